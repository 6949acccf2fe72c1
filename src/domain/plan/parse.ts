import { type Document, LineCounter, type Node, parseDocument, type Scalar, visit, type YAMLError } from "yaml";
import { DEFINITION_LIMIT, type Requires } from "../../protocol/pipeline.ts";
import type { Mistake } from "./mistake.ts";
import { tooDeepAt } from "./nesting.ts";
import { PIPELINE_FILE, type PipelineFile, type StepOfFile } from "./pipeline-file.ts";
import type { Checkout, EnvEntry, Plan, PlanStep, Script, Shell, Template } from "./plan.ts";
import type { Written } from "./reader.ts";
import { Reading, TooMuch } from "./reading.ts";
import { referencesOf } from "./references.ts";
import { Expressions } from "./template.ts";
import { folderProblem } from "./working-directory.ts";
import { isBareExpression, isUnclosedQuote, yamlMessage } from "./yaml-mistakes.ts";

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

/** An expression in it may come to be anything: it is looked at again once it has a value. */
const folderOf = (written: Written, expressions: Expressions): Template => {
  const folder = expressions.template(written);
  const problem = folderProblem(folder.map((part) => (typeof part === "string" ? part : "?")).join(""));
  if (problem) expressions.mistake(written.node, 0, problem);
  return folder;
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
    workingDirectory: folder ? folderOf(folder, expressions) : null,
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

/** In the order of the file, and one a place: what is said of it later follows from the first. */
const inOrder = (mistakes: Mistake[]): Mistake[] => {
  const first = new Map([...mistakes].reverse().map((one) => [`${one.line}:${one.column}`, one]));
  return [...first.values()].sort((a, b) => a.line - b.line || a.column - b.column);
};

/** Where to look for an error of YAML: the end of the file tells nothing of a quote that is never closed. */
const offsetOf = (error: YAMLError, document: Document.Parsed): number => {
  if (!isUnclosedQuote(error)) return error.pos[0];
  let opened = error.pos[0];
  visit(document, {
    Scalar(_, node) {
      if (node.type?.startsWith("QUOTE") && node.range && node.range[0] < error.pos[0]) opened = node.range[0];
    },
  });
  return opened;
};

/** One mistake a line: what follows from a slip in YAML would only confuse. */
const yamlMistakes = (text: string, document: Document.Parsed, lines: LineCounter): Mistake[] => {
  const errors = [...document.errors, ...document.warnings];
  const last = errors.findIndex((error) => isBareExpression(error, text));
  const mistakes = errors.slice(0, last < 0 ? undefined : last + 1).map((error) => {
    const { line, col } = lines.linePos(offsetOf(error, document));
    return { line, column: col, message: yamlMessage(error, text) };
  });
  const first = new Map(mistakes.reverse().map((one) => [one.line, one]));
  return inOrder([...first.values()].slice(-20));
};

const read = (text: string): Parsed => {
  const deep = tooDeepAt(text);
  if (deep !== null) {
    const before = text.slice(0, deep).split("\n");
    return {
      mistakes: [{ line: before.length, column: before.at(-1)!.length + 1, message: "The file is nested too deeply" }],
    };
  }
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: "error" } as const;
  const document = parseDocument(text, options);
  const mistakes = yamlMistakes(text, document, lines);
  if (mistakes.length > 0) return { mistakes };
  const { contents } = document;
  if (!contents) return { mistakes: [{ line: 1, column: 1, message: "The file is empty: it needs `steps`" }] };
  const reading = new Reading(text, document, lines);
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
