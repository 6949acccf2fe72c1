import { type Document, LineCounter, type Node, type Scalar, visit } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import { jobsIn } from "./foreign-jobs.ts";
import { FILE_LIMITS, TooMuch } from "./limits.ts";
import type { Mistake } from "./mistake.ts";
import { FIELDS, JOB, PIPELINE_FILE, type PipelineFile, type StepOfFile } from "./pipeline-file.ts";
import type { Checkout, EnvEntry, Plan, PlanStep, Shell, Template } from "./plan.ts";
import type { Written } from "./reader.ts";
import { Reading } from "./reading.ts";
import { Expressions } from "./template.ts";
import { folderProblem } from "./working-directory.ts";
import { type YamlFile, yamlOf } from "./yaml-document.ts";
import { isBareExpression, isUnclosedQuote, type YamlError, yamlMessage } from "./yaml-mistakes.ts";

/** A plan with hints, or everything that is wrong with the file; in its order. */
export type Parsed =
  | { plan: Plan; hints: Mistake[]; mistakes?: undefined }
  | { plan?: undefined; hints?: undefined; mistakes: Mistake[] };

const envOf = (
  entries: { key: string; node: Node; value: Written }[] | undefined,
  expressions: Expressions,
): EnvEntry[] =>
  (entries ?? []).map(({ key, node, value }) => ({
    key,
    value: expressions.template(value),
    place: expressions.reading.place(node.range?.[0] ?? 0),
  }));

const NO_SCRIPT = { text: "", references: [], firstLine: "" };

const conditionOf = (written: boolean | Written | undefined, node: Node, expressions: Expressions) => {
  if (written === undefined) return null;
  if (typeof written !== "boolean") return expressions.condition(written);
  return expressions.expression(node as Scalar, String(written), 0, "null");
};

/** An expression in it may come to be anything: it is looked at again once it has a value. */
const folderOf = (written: Written, expressions: Expressions): Template => {
  const folder = expressions.template(written);
  const problem = folderProblem(folder.map((part) => (typeof part === "string" ? part : "?")).join(""));
  if (problem) expressions.mistake(written.node, 0, problem);
  return folder;
};

const stepOf = (
  file: StepOfFile,
  defaults: { shell: Shell; folder: Written | undefined; env: string[] },
  expressions: Expressions,
): PlanStep => {
  const shell = file.shell ?? defaults.shell;
  const folder = file["working-directory"] ?? defaults.folder;
  const given = [...defaults.env, ...(file.env ?? []).map((entry) => entry.key)];
  const { text, references, firstLine } = file.run ? expressions.script(file.run, shell, given) : NO_SCRIPT;
  return {
    id: file.id?.text ?? null,
    name: file.name ? expressions.template(file.name) : null,
    run: { text, references },
    firstLine,
    shell,
    env: envOf(file.env, expressions),
    if: conditionOf(file.if, file.node, expressions),
    workingDirectory: folder ? folderOf(folder, expressions) : null,
    timeoutMinutes: file["timeout-minutes"] ?? null,
    continueOnError: file["continue-on-error"] ?? false,
    place: expressions.reading.place(file.node.range?.[0] ?? 0),
  };
};

const stepsOf = (file: PipelineFile, reading: Reading): PlanStep[] => {
  const before: string[] = [];
  const run = file.defaults?.run;
  const env = (file.env ?? []).map((entry) => entry.key);
  const defaults = { shell: run?.shell ?? "bash", folder: run?.["working-directory"], env } as const;
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
  if (file.requires?.platform === "windows")
    reading.hint(file.requires.node, "There is no agent for Windows yet: a build that needs one waits for ever");
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

const inOrder = (mistakes: Mistake[]): Mistake[] => mistakes.sort((a, b) => a.line - b.line || a.column - b.column);

/** Where to look for an error of YAML: the end of the file tells nothing of a quote that is never closed. */
const offsetOf = (error: YamlError, document: Document.Parsed | null): number => {
  if (!document || !isUnclosedQuote(error)) return error.offset;
  let opened = error.offset;
  visit(document, {
    Scalar(_, node) {
      if (node.type?.startsWith("QUOTE") && node.range && node.range[0] < error.offset) opened = node.range[0];
    },
  });
  return opened;
};

/** One mistake a line: what follows from a slip in YAML would only confuse. */
const yamlMistakes = (text: string, { document, errors }: YamlFile, lines: LineCounter): Mistake[] => {
  const last = errors.findIndex((error) => isBareExpression(error, text));
  const mistakes = errors.slice(0, last < 0 ? undefined : last + 1).map((error) => {
    const { line, col } = lines.linePos(offsetOf(error, document));
    return { line, column: col, message: yamlMessage(error, text) };
  });
  const first = new Map(mistakes.reverse().map((one) => [one.line, one]));
  return inOrder([...first.values()].slice(-20));
};

const read = (text: string, lines: LineCounter): Parsed => {
  const file = yamlOf(text, lines);
  const mistakes = yamlMistakes(text, file, lines);
  if (mistakes.length > 0) return { mistakes };
  if (!file.document?.contents)
    return { mistakes: [{ line: 1, column: 1, message: "The file is empty: it needs `steps`" }] };
  const reading = new Reading(text, file.document, lines);
  const pipeline = PIPELINE_FILE.read(file.document.contents, reading);
  const plan = pipeline && planOf(pipeline, reading);
  for (const node of jobsIn(file.document.contents, FIELDS, reading)) {
    const job = JOB.read(node, reading);
    if (job) planOf(job, reading);
  }
  if (!plan || reading.mistakes.length > 0) return { mistakes: inOrder(reading.mistakes) };
  return { plan, hints: inOrder(reading.hints) };
};

/** Reads and checks a pipeline file; one beyond a limit is a mistake like any other. */
export const parsePlan = (text: string): Parsed => {
  const most = FILE_LIMITS.characters;
  if (text.length > most)
    return { mistakes: [{ line: 1, column: 1, message: `The file has more than ${withCommas(most)} characters` }] };
  const lines = new LineCounter();
  try {
    return read(text, lines);
  } catch (error) {
    if (error instanceof TooMuch) {
      const { line, col } = lines.linePos(error.offset);
      return { mistakes: [{ line, column: col, message: error.message }] };
    }
    // Reading is recursive where the file is nested, also in a script: it can exhaust the stack.
    if (error instanceof RangeError)
      return { mistakes: [{ line: 1, column: 1, message: "The file is nested too deeply" }] };
    throw error;
  }
};
