import { isMap, isScalar, type Node } from "yaml";
import { closestName } from "../../domain/closest-name.ts";
import { ConfigPath } from "../../protocol/pipeline.ts";
import { INPUTS, type Input, inputProblem, parseInput } from "../fields/input-fields.ts";
import { FILE_LIMITS } from "../fields/limits.ts";
import { NAME_IN_FILE, STEP, type StepOfFile } from "../fields/step-fields.ts";
import { field, list, mapping, record } from "../yaml/collection-parsers.ts";
import type { NodeParser, ParsedBy, ScalarText } from "../yaml/node-parser.ts";
import { text } from "../yaml/scalar-parsers.ts";
import type { ParseContext } from "./parse-context.ts";
import type { InputLiteral } from "./plan.ts";
import { openIncluded } from "./read-file.ts";

const OF_OTHERS =
  "Templates from other repositories are not supported yet: write a path in this one, such as `./ci/setup.yml`";

/**
 * Reports whether git would treat a name as its own folder. This includes names that mean this folder on a file system
 * that folds letter case or shortens names.
 */
const isGitFolder = (part: string): boolean => /^(?:\.git|git~\d+)(?:[ .:].*)?$/i.test(part);

/**
 * Returns the path from the repository's root that `include` names, or why `include` does not name a path. Does not
 * check the file.
 */
const includedPath = (reference: string): { path: string } | { problem: string } => {
  if (reference.includes("${{")) return { problem: "The path is plain text: ${{ }} is not evaluated here" };
  if (!reference.startsWith("./") && /\/\/|@|^[\w.-]+:/.test(reference)) return { problem: OF_OTHERS };
  const path = reference.replace(/^\.\//, "");
  if (!ConfigPath.safeParse(path).success || path.split("/").some(isGitFolder))
    return { problem: "This must be the path of a file in the repository, without `..`, such as `./ci/setup.yml`" };
  return reference === path
    ? { problem: "Write `./` before the path, which begins at the repository's root" }
    : { path };
};

/* Keys that people write at an include, or in an included file, because other systems have them there. */

const rows = (...entries: [keys: string, advice: string][]): Map<string, string> =>
  new Map(entries.flatMap(([keys, advice]) => keys.split(" ").map((key) => [key, advice] as const)));

/** Keys of an entry that includes a file. */
const INCLUDE_ENTRY_ADVICE = rows(
  ["if when rules condition", "Write `if` in the steps of the included file: it can read `inputs`"],
  ["inputs parameters vars variables env", "Write `with`, for example `with: { version: 24 }`"],
  ["run script uses", "Write it in a separate step"],
  ["local file path template remote project ref", "Write `include: ./ci/setup.yml`"],
);

/** Keys at the top of an included file. */
const INCLUDED_FILE_ADVICE = rows(
  ["parameters spec params", "Write `inputs`"],
  ["runs jobs", "Write its `steps`: they become steps of the job that includes it"],
  [
    "env defaults requires timeout-minutes checkout groups needs tools cache artifacts",
    "Write it in the pipeline file, or in a step: an included file has `inputs` and `steps`",
  ],
  ["on supersede schedule", "Only the pipeline file says when it is built"],
);

/** An entry that includes a file, with the values of the file's inputs: fixed values, and texts with expressions. */
export interface IncludeCall {
  /** The context of the file that contains the entry. */
  context: ParseContext;
  inputs: { input: Input; value: InputLiteral | ScalarText }[];
}

/**
 * A step at its place in a file. For a step of an included file, `place` has the entries that led there, innermost
 * first.
 */
export type PlacedStep = StepOfFile & { place?: { context: ParseContext; calls: IncludeCall[] } };

interface FileOfSteps {
  context: ParseContext;
  inputs: Input[];
  steps: PlacedStep[];
  /** The height of the file: 1, or one more than the highest of the files that it includes. */
  height: number;
}

const INCLUDE = mapping(
  {
    include: {
      ...field(text(), "Path of a file in the same commit, from the repository's root: its steps replace this entry."),
      required: true,
    },
    with: field(record(NAME_IN_FILE, text(true)), "Values of its inputs, by name. May use ${{ }}."),
  },
  { name: "an include", adviceForKey: (key) => INCLUDE_ENTRY_ADVICE.get(key) },
);
type IncludeOfFile = ParsedBy<typeof INCLUDE>;

const isInclude = (node: Node | undefined): boolean =>
  isMap(node) && node.items.some(({ key }) => isScalar(key) && key.value === "include");

const ENTRY: NodeParser<{ step: StepOfFile } | { include: IncludeOfFile }> = {
  schema: { anyOf: [STEP.schema, INCLUDE.schema] },
  parse(node, context) {
    if (isInclude(context.peek(node))) {
      const include = INCLUDE.parse(node, context);
      return include && { include };
    }
    const step = STEP.parse(node, context);
    return step && { step };
  },
};

const ENTRIES = list(ENTRY, { atLeast: 1, atMost: FILE_LIMITS.steps });

/** A list of steps. The steps of included files become part of the list. */
export const STEPS: NodeParser<PlacedStep[]> = {
  schema: ENTRIES.schema,
  parse(node, context) {
    const entries = ENTRIES.parse(node, context);
    const steps: PlacedStep[] = [];
    for (const entry of entries ?? []) {
      if ("step" in entry) steps.push(entry.step);
      else steps.push(...stepsOfInclude(entry.include, context));
      if (steps.length <= FILE_LIMITS.steps) continue;
      const { node: at } = "step" in entry ? entry.step : entry.include;
      context.mistake(at, `With the files included up to here, there are more than ${FILE_LIMITS.steps} steps`);
      return [];
    }
    return entries && steps;
  },
};

const INCLUDED_FILE = mapping(
  {
    inputs: field(INPUTS, "The inputs that `with` gives values to: `${{ inputs.NAME }}` in the steps."),
    steps: { ...field(STEPS, "The steps that replace the `include`."), required: true },
  },
  { name: "an included file", adviceForKey: (key) => INCLUDED_FILE_ADVICE.get(key) },
);

/** The JSON Schema of included files, for editors. */
export const INCLUDED_SCHEMA = INCLUDED_FILE.schema;

/**
 * Returns the steps of the file that an entry includes. A file that cannot be included is a mistake and has no steps.
 */
const stepsOfInclude = (entry: IncludeOfFile, context: ParseContext): PlacedStep[] => {
  const { included } = context;
  const at = entry.include?.node;
  if (!at || !entry.include) return [];
  const refuse = (problem: string): [] => {
    context.mistake(at, problem);
    return [];
  };
  const target = includedPath(entry.include.text);
  if ("problem" in target) return refuse(target.problem);
  const { path } = target;
  const circle = included.path.indexOf(path);
  if (circle >= 0)
    return refuse(`These files include each other: ${[...included.path.slice(circle), path].join(", ")}`);
  if (++context.includes > FILE_LIMITS.includes || included.asked.add(path).size > FILE_LIMITS.includes)
    return refuse(`A file includes at most ${FILE_LIMITS.includes} files, directly or indirectly`);
  const deep = `Files are included at most ${FILE_LIMITS.includeDepth} deep`;
  if (included.path.length >= FILE_LIMITS.includeDepth) return refuse(deep);
  const file = fileAt(path, at, context);
  if (!file) return [];
  if (included.path.length + file.height > FILE_LIMITS.includeDepth) return refuse(deep);
  if (included.path.length === 0) included.steps += file.steps.length;
  if (included.steps > FILE_LIMITS.steps)
    return refuse(`A file has at most ${FILE_LIMITS.steps} steps in all its jobs`);
  const call = { context, inputs: inputValues(entry, file.inputs, context) };
  return file.steps.map(({ place, ...step }) => ({
    ...step,
    place: { context: place?.context ?? file.context, calls: [...(place?.calls ?? []), call] },
  }));
};

/** Returns the file at a path, which is read once; null if it cannot be read or has mistakes. */
const fileAt = (path: string, at: Node, context: ParseContext): FileOfSteps | null => {
  const { included } = context;
  const earlierFile = included.read.get(path);
  if (earlierFile !== undefined) return earlierFile as FileOfSteps | null;
  const answer = included.find(path);
  if ("problem" in answer) {
    context.mistake(at, answer.problem);
    return null;
  }
  if ("unread" in answer) {
    included.hasUnread = true;
    context.hint(at, answer.unread);
    return null;
  }
  included.path.push(path);
  const file = read(path, answer.text, at, context);
  included.path.pop();
  included.read.set(path, file);
  return file;
};

const read = (path: string, text: string, at: Node, context: ParseContext): FileOfSteps | null => {
  const opened = openIncluded(path, text, at, context);
  const file = opened && INCLUDED_FILE.parse(opened.root, opened.context);
  if (!file) return null;
  const steps = file.steps ?? [];
  const height = 1 + Math.max(0, ...steps.map(({ place }) => place?.calls.length ?? 0));
  return { context: opened.context, inputs: file.inputs ?? [], steps, height };
};

/** Returns the values of a file's inputs for one entry that includes it. */
const inputValues = (entry: IncludeOfFile, inputs: Input[], context: ParseContext): IncludeCall["inputs"] => {
  const entriesByName = new Map((entry.with ?? []).map((one) => [one.key, one]));
  const names = inputs.map(({ name }) => name);
  for (const [key, { node }] of entriesByName)
    if (!names.includes(key)) context.mistake(node, "The included file has no such input", closestName(key, names));
  return inputs.map((input) => ({
    input,
    value: inputValue(input, entriesByName.get(input.name)?.value, entry.node, context),
  }));
};

const inputValue = (
  input: Input,
  scalar: ScalarText | undefined,
  entry: Node,
  context: ParseContext,
): InputLiteral | ScalarText => {
  if (!scalar) {
    if (input.fallback === undefined) context.mistake(entry, `The input \`${input.name}\` has no value here`);
    return input.fallback ?? null;
  }
  if (scalar.text.includes("${{")) return scalar;
  const value = parseInput(scalar.text, input);
  if (value === undefined) context.mistake(scalar.node, inputProblem(input));
  return value ?? null;
};
