import type { Node, Scalar } from "yaml";
import type { KnownNames } from "../expression/check.ts";
import type { JobNames } from "../expression/names.ts";
import { folderProblem, type StepOfFile } from "../fields/step-fields.ts";
import type { ScalarText } from "../yaml/node-parser.ts";
import { TemplateParser } from "../yaml/template-parser.ts";
import type { ParseContext } from "./parse-context.ts";
import type { EnvEntry, InputScope, PlanStep, Retry, Shell, Template } from "./plan.ts";
import type { IncludeCall, PlacedStep } from "./step-list.ts";

/** Returns the names that expressions in an included file can read. */
export const inputNames = (scope: InputScope | undefined): Pick<KnownNames, "inputs"> =>
  scope ? { inputs: [...scope.values.keys()] } : {};

/** The inputs of the included files of one job. Steps of the same include share them. */
class InputScopes {
  readonly #scopes = new Map<IncludeCall, Map<InputScope | undefined, InputScope>>();

  /**
   * Finds the scope of a step. `calls` begins with the innermost call. `names` are those in the step's own expressions.
   */
  find(calls: IncludeCall[], names: KnownNames): InputScope | undefined {
    const [call, ...around] = calls;
    if (!call) return undefined;
    const outer = this.find(around, names);
    const scopes = this.#scopes.get(call) ?? new Map<InputScope | undefined, InputScope>();
    this.#scopes.set(call, scopes);
    const scope = scopes.get(outer) ?? makeInputScope(call, outer, names);
    scopes.set(outer, scope);
    return scope;
  }
}

const makeInputScope = (
  { context, inputs }: IncludeCall,
  outer: InputScope | undefined,
  names: KnownNames,
): InputScope => {
  const parser = new TemplateParser(context, { ...names, ...inputNames(outer) });
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

export const parseEnv = (
  entries: { key: string; node: Node; value: ScalarText }[] | undefined,
  parser: TemplateParser,
): EnvEntry[] =>
  (entries ?? []).map(({ key, node, value }) => ({
    key,
    value: parser.template(value),
    position: parser.context.positionAt(node.range?.[0] ?? 0),
  }));

const NO_SCRIPT = { text: "", references: [], firstLine: "" };

export const parseCondition = (condition: boolean | ScalarText | undefined, node: Node, parser: TemplateParser) => {
  if (condition === undefined) return null;
  if (typeof condition !== "boolean") return parser.condition(condition);
  return parser.expression(node as Scalar, String(condition), 0, "null");
};

/** Checks the literal parts of a folder. A folder with expressions is checked again when they have values. */
const parseFolder = (scalar: ScalarText, parser: TemplateParser): Template => {
  const folder = parser.template(scalar);
  const problem = folderProblem(folder.map((part) => (typeof part === "string" ? part : "?")).join(""));
  if (problem) parser.mistake(scalar.node, 0, problem);
  return folder;
};

const parseRetry = (retry: StepOfFile["retry"]): Retry | null => {
  if (retry === undefined) return null;
  if (typeof retry === "number") return { times: retry, on: null, waitSeconds: 0 };
  return { times: retry.times ?? 1, on: retry.on ?? null, waitSeconds: retry["wait-seconds"] ?? 0 };
};

const parseStep = (
  file: StepOfFile,
  defaults: { shell: Shell; folder: ScalarText | undefined; env: string[] },
  parser: TemplateParser,
  inputs: InputScope | undefined,
): PlanStep => {
  const shell = file.shell ?? defaults.shell;
  const folder = file["working-directory"] ?? defaults.folder;
  const keys = [...defaults.env, ...(file.env ?? []).map((entry) => entry.key)];
  const { text, references, firstLine } = file.run ? parser.script(file.run, shell, keys) : NO_SCRIPT;
  return {
    id: file.id?.text ?? null,
    name: file.name ? parser.template(file.name) : null,
    run: { text, references },
    firstLine,
    shell,
    env: parseEnv(file.env, parser),
    if: parseCondition(file.if, file.node, parser),
    workingDirectory: folder ? parseFolder(folder, parser) : null,
    timeoutMinutes: file["timeout-minutes"] ?? null,
    retry: parseRetry(file.retry),
    continueOnError: file["continue-on-error"] ?? false,
    position: parser.context.positionAt(file.node.range?.[0] ?? 0),
    ...(inputs ? { inputs } : {}),
  };
};

/** The settings of a file, or of one of its jobs, for all its steps. */
interface StepDefaults {
  shell: Shell | undefined;
  folder: ScalarText | undefined;
  /** Names of the variables that are set around the steps. */
  env: string[];
}

/** Parses the steps of a file or of a job. `job` has the other names in the steps' expressions. */
export const parseSteps = (
  steps: PlacedStep[],
  { shell = "bash", ...rest }: StepDefaults,
  context: ParseContext,
  job?: JobNames,
): PlanStep[] => {
  const before: string[] = [];
  const { hasUnread } = context.included;
  const scopes = new InputScopes();
  return steps.map((step) => {
    const names = { steps: [...before], job, hasUnread };
    const inputs = scopes.find(step.place?.calls ?? [], names);
    const own = step.place?.context ?? context;
    const plan = parseStep(
      step,
      { shell, ...rest },
      new TemplateParser(own, { ...names, ...inputNames(inputs) }),
      inputs,
    );
    if (step.id && before.includes(step.id.text)) own.mistake(step.id.node, "Another step already has this id");
    if (step.id) before.push(step.id.text);
    return plan;
  });
};
