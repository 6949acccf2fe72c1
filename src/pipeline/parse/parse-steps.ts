import type { Node, Scalar } from "yaml";
import type { KnownNames } from "../expression/check.ts";
import type { JobNames } from "../expression/names.ts";
import { folderProblem, type StepOfFile } from "../fields/step-fields.ts";
import type { ScalarText } from "../yaml/node-parser.ts";
import { TemplateParser } from "../yaml/template-parser.ts";
import type { ParseContext } from "./parse-context.ts";
import type { EnvEntry, InputScope, PlanStep, Retry, Shell, Template } from "./plan.ts";
import type { IncludeCall, PlacedStep } from "./step-list.ts";

/** The names that expressions in an included file can read. */
export const namesOf = (scope: InputScope | undefined): Pick<KnownNames, "inputs"> =>
  scope ? { inputs: [...scope.values.keys()] } : {};

/** The inputs of the included files of one job. Steps of the same include share them. */
class InputScopes {
  readonly #known = new Map<IncludeCall, Map<InputScope | undefined, InputScope>>();

  /** `calls` begins with the innermost; `known` is what the step's own expressions can name. */
  of(calls: IncludeCall[], known: KnownNames): InputScope | undefined {
    const [call, ...around] = calls;
    if (!call) return undefined;
    const outer = this.of(around, known);
    const scopes = this.#known.get(call) ?? new Map<InputScope | undefined, InputScope>();
    this.#known.set(call, scopes);
    const scope = scopes.get(outer) ?? scopeOf(call, outer, known);
    scopes.set(outer, scope);
    return scope;
  }
}

const scopeOf = ({ context, inputs }: IncludeCall, outer: InputScope | undefined, known: KnownNames): InputScope => {
  const parser = new TemplateParser(context, { ...known, ...namesOf(outer) });
  const values: InputScope["values"] = new Map();
  for (const { input, value } of inputs) {
    const { name, type, options } = input;
    if (typeof value !== "object" || value === null) values.set(name, value);
    else
      values.set(name, {
        type,
        options,
        template: parser.template(value),
        position: context.positionAt(value.node.range?.[0] ?? 0),
      });
  }
  return outer ? { values, outer } : { values };
};

export const envOf = (
  entries: { key: string; node: Node; value: ScalarText }[] | undefined,
  parser: TemplateParser,
): EnvEntry[] =>
  (entries ?? []).map(({ key, node, value }) => ({
    key,
    value: parser.template(value),
    position: parser.context.positionAt(node.range?.[0] ?? 0),
  }));

const NO_SCRIPT = { text: "", references: [], firstLine: "" };

export const conditionOf = (written: boolean | ScalarText | undefined, node: Node, parser: TemplateParser) => {
  if (written === undefined) return null;
  if (typeof written !== "boolean") return parser.condition(written);
  return parser.expression(node as Scalar, String(written), 0, "null");
};

/** Checks the literal parts; a folder with expressions is checked again when they have values. */
const folderOf = (written: ScalarText, parser: TemplateParser): Template => {
  const folder = parser.template(written);
  const problem = folderProblem(folder.map((part) => (typeof part === "string" ? part : "?")).join(""));
  if (problem) parser.mistake(written.node, 0, problem);
  return folder;
};

const retryOf = (written: StepOfFile["retry"]): Retry | null => {
  if (written === undefined) return null;
  if (typeof written === "number") return { times: written, on: null, waitSeconds: 0 };
  return { times: written.times ?? 1, on: written.on ?? null, waitSeconds: written["wait-seconds"] ?? 0 };
};

const stepOf = (
  file: StepOfFile,
  defaults: { shell: Shell; folder: ScalarText | undefined; env: string[] },
  parser: TemplateParser,
  inputs: InputScope | undefined,
): PlanStep => {
  const shell = file.shell ?? defaults.shell;
  const folder = file["working-directory"] ?? defaults.folder;
  const given = [...defaults.env, ...(file.env ?? []).map((entry) => entry.key)];
  const { text, references, firstLine } = file.run ? parser.script(file.run, shell, given) : NO_SCRIPT;
  return {
    id: file.id?.text ?? null,
    name: file.name ? parser.template(file.name) : null,
    run: { text, references },
    firstLine,
    shell,
    env: envOf(file.env, parser),
    if: conditionOf(file.if, file.node, parser),
    workingDirectory: folder ? folderOf(folder, parser) : null,
    timeoutMinutes: file["timeout-minutes"] ?? null,
    retry: retryOf(file.retry),
    continueOnError: file["continue-on-error"] ?? false,
    position: parser.context.positionAt(file.node.range?.[0] ?? 0),
    ...(inputs ? { inputs } : {}),
  };
};

/** What the file, or a job of it, says of all its steps. */
interface StepDefaults {
  shell: Shell | undefined;
  folder: ScalarText | undefined;
  /** Names of the variables that are set around the steps. */
  env: string[];
}

/** The steps of a file or of a job; `job` is what their expressions can name besides. */
export const stepsOf = (
  steps: PlacedStep[],
  { shell = "bash", ...rest }: StepDefaults,
  context: ParseContext,
  job?: JobNames,
): PlanStep[] => {
  const before: string[] = [];
  const { hasUnread } = context.included;
  const scopes = new InputScopes();
  return steps.map((step) => {
    const known = { steps: [...before], job, hasUnread };
    const inputs = scopes.of(step.place?.calls ?? [], known);
    const own = step.place?.context ?? context;
    const plan = stepOf(step, { shell, ...rest }, new TemplateParser(own, { ...known, ...namesOf(inputs) }), inputs);
    if (step.id && before.includes(step.id.text)) own.mistake(step.id.node, "Another step already has this id");
    if (step.id) before.push(step.id.text);
    return plan;
  });
};
