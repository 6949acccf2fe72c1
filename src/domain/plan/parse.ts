import { LineCounter, type Node, parseDocument, type Scalar } from "yaml";
import { DEFINITION_LIMIT, type Requires } from "../../protocol/pipeline.ts";
import type { Mistake } from "./mistake.ts";
import { PIPELINE_FILE, type PipelineFile, type StepOfFile } from "./pipeline-file.ts";
import type { Checkout, EnvEntry, Plan, PlanStep, Script, Shell } from "./plan.ts";
import { Reading, TooMuch, type Written } from "./reader.ts";
import { referencesOf } from "./references.ts";
import { Expressions } from "./template.ts";
import { yamlMessage } from "./yaml-mistakes.ts";

/** A plan, or everything that is wrong with the file, in its order. */
export type Parsed = { plan: Plan; mistakes?: undefined } | { plan?: undefined; mistakes: Mistake[] };

const envOf = (
  entries: { key: string; node: Node; value: Written }[] | undefined,
  expressions: Expressions,
): EnvEntry[] =>
  (entries ?? []).map(({ key, node, value }) => ({
    key,
    value: expressions.template(value),
    place: expressions.reading.place(node.range?.[0] ?? 0),
  }));

const scriptOf = ({ text, node }: Written, shell: Shell, expressions: Expressions): Script => {
  const { script, expressions: found, problems } = referencesOf(text, shell);
  for (const { offset, message } of problems) expressions.mistake(node, offset, message);
  const references = found.flatMap(({ name, expression, offset }) => {
    const value = expressions.expression(node, expression, offset, "mistake");
    return value ? [{ name, value }] : [];
  });
  return { text: script, references };
};

const firstLine = (script: string): string => (script.trim().split("\n")[0] ?? "").slice(0, 100);

const conditionOf = (written: boolean | Written | undefined, node: Node, expressions: Expressions) => {
  if (written === undefined) return null;
  if (typeof written !== "boolean") return expressions.condition(written);
  return expressions.expression(node as Scalar, String(written), 0, "null");
};

const stepOf = (
  file: StepOfFile,
  defaults: { shell: Shell; folder: Written | undefined },
  expressions: Expressions,
): PlanStep => {
  const shell = file.shell ?? defaults.shell;
  const folder = file["working-directory"] ?? defaults.folder;
  return {
    id: file.id?.text ?? null,
    name: file.name ? expressions.template(file.name) : null,
    run: file.run ? scriptOf(file.run, shell, expressions) : { text: "", references: [] },
    firstLine: firstLine(file.run?.text ?? ""),
    shell,
    env: envOf(file.env, expressions),
    if: conditionOf(file.if, file.node, expressions),
    workingDirectory: folder ? expressions.template(folder) : null,
    timeoutMinutes: file["timeout-minutes"] ?? null,
    continueOnError: file["continue-on-error"] ?? false,
    place: expressions.reading.place(file.node.range?.[0] ?? 0),
  };
};

const stepsOf = (file: PipelineFile, reading: Reading): PlanStep[] => {
  const before: string[] = [];
  const run = file.defaults?.run;
  const defaults = { shell: run?.shell ?? "bash", folder: run?.["working-directory"] } as const;
  return (file.steps ?? []).map((step) => {
    const plan = stepOf(step, defaults, new Expressions(reading, { steps: [...before] }));
    if (step.id && before.includes(step.id.text)) reading.mistake(step.id.node, "Another step has this id already");
    if (step.id) before.push(step.id.text);
    return plan;
  });
};

const checkoutOf = (file: PipelineFile): Checkout => {
  const { depth = 1, submodules = false, lfs = false, "fetch-tags": fetchTags = false } = file.checkout ?? {};
  return { depth, submodules: submodules === true ? "direct" : submodules || "none", lfs, fetchTags };
};

const requiresOf = ({ requires }: PipelineFile): Requires => {
  const { node: _, labels, ...rest } = requires ?? { node: null };
  return { ...rest, ...(labels ? { labels: labels.map((label) => label.text) } : {}) };
};

const planOf = (file: PipelineFile, reading: Reading): Plan => {
  const everywhere = new Expressions(reading, { steps: null });
  return {
    name: file.name ? everywhere.template(file.name) : null,
    env: envOf(file.env, everywhere),
    job: {
      requires: requiresOf(file),
      timeoutMinutes: file["timeout-minutes"] ?? null,
      checkout: checkoutOf(file),
      steps: stepsOf(file, reading),
    },
  };
};

const inOrder = (mistakes: Mistake[]): Mistake[] => {
  const unique = new Map(mistakes.map((one) => [`${one.line}:${one.column}:${one.message}`, one]));
  return [...unique.values()].sort((a, b) => a.line - b.line || a.column - b.column);
};

/** One mistake a line: what follows from a slip in YAML would only confuse. */
const ofYaml = (text: string): { reading: Reading; contents: Node | null } | { mistakes: Mistake[] } => {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: "silent" } as const;
  const document = parseDocument(text, options);
  const wrong = [...document.errors, ...document.warnings];
  if (wrong.length === 0) return { reading: new Reading(text, document, lines), contents: document.contents };
  const places = wrong.map((error) => ({ ...lines.linePos(error.pos[0]), message: yamlMessage(error) }));
  const first = new Map(places.reverse().map(({ line, col, message }) => [line, { line, column: col, message }]));
  return { mistakes: [...first.values()].slice(0, 20) };
};

const read = (text: string): Parsed => {
  const yaml = ofYaml(text);
  if ("mistakes" in yaml) return { mistakes: inOrder(yaml.mistakes) };
  const { reading, contents } = yaml;
  if (!contents) return { mistakes: [{ line: 1, column: 1, message: "The file is empty: it needs `steps`" }] };
  const file = PIPELINE_FILE.read(contents, reading);
  const plan = file && planOf(file, reading);
  return plan && reading.mistakes.length === 0 ? { plan } : { mistakes: inOrder(reading.mistakes) };
};

/** Reads and checks a pipeline file, at most 256 Ki characters of it. */
export const parsePlan = (text: string): Parsed => {
  if (text.length > DEFINITION_LIMIT)
    return { mistakes: [{ line: 1, column: 1, message: `The file has more than ${DEFINITION_LIMIT} characters` }] };
  try {
    return read(text);
  } catch (error) {
    // Reading is recursive where the file is nested: a file made to exhaust the stack is a mistake like any other.
    if (error instanceof TooMuch || error instanceof RangeError)
      return {
        mistakes: [{ line: 1, column: 1, message: "The file is nested too deeply, or its aliases make it too large" }],
      };
    throw error;
  }
};
