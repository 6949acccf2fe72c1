import { closestName } from "../../domain/closest-name.ts";
import type { Needs } from "../../protocol/jobs.ts";
import type { Matrix } from "../graph/graph.ts";
import { type Data, Dictionary, type MissingKey, textData, toData } from "./data.ts";
import type { EvaluationScope } from "./evaluate.ts";
import { functionsFor, type JobContextStatus } from "./functions.ts";
import { CONTEXT_NAMES, type ContextName, isVariableName, type JobContextName } from "./names.ts";

/**
 * The contexts of an expression. `needs` and `matrix` exist only for a job in `jobs`, and `inputs` only in an included
 * file.
 */
export type Contexts = Record<ContextName, Dictionary> & Partial<Record<JobContextName | "inputs", Dictionary>>;

/** The contexts by name. Any other name is a variable of `env`. */
class ScopeNames extends Dictionary {
  readonly #env: Dictionary;
  constructor(contexts: Contexts) {
    const missing = (name: string): MissingKey => ({
      message: "There is no variable with this name",
      suggestion: closestName(name, [...contexts.env.pairs().map((pair) => pair.key), ...CONTEXT_NAMES]),
    });
    super(Object.entries(contexts), missing);
    this.#env = contexts.env;
  }
  override get(name: string): Data | undefined {
    return super.get(name) ?? (isVariableName(name) ? this.#env.get(name) : undefined);
  }
}

/**
 * Creates the names that expressions can read. `changedFiles` are the files that the build's commits changed; null if
 * they are unknown.
 */
export const makeScope = (
  contexts: Contexts,
  status: JobContextStatus,
  changedFiles: readonly string[] | null = null,
): EvaluationScope => ({
  names: new ScopeNames(contexts),
  status,
  functions: functionsFor(status, changedFiles),
});

/**
 * Creates a context whose keys are variables. `elsewhere` has the keys of the other kind of variable, and the message
 * for them.
 */
export const contextOfVariables = (
  pairs: Iterable<readonly [string, Data]>,
  elsewhere?: { keys: Set<string>; message: string; context: "vars" | "secrets" },
): Dictionary => {
  const dictionary: Dictionary = new Dictionary(pairs, (key) =>
    elsewhere?.keys.has(key)
      ? { message: elsewhere.message, suggestion: `${elsewhere.context}.${key}`, always: true }
      : {
          message: "There is no variable with this name",
          suggestion: closestName(
            key,
            dictionary.pairs().map((pair) => pair.key),
          ),
        },
  );
  return dictionary;
};

/** Creates a context with fixed keys. Any other key is a mistake, except where unknown names are null. */
export const fixedContext = (pairs: Iterable<readonly [string, Data]>): Dictionary => {
  const dictionary: Dictionary = new Dictionary(pairs, (key) => ({
    message: "This context has no such property",
    suggestion: closestName(
      key,
      dictionary.pairs().map((pair) => pair.key),
    ),
  }));
  return dictionary;
};

/** Creates the outputs of a step. An output that was not set is always null. */
export const outputsContext = (pairs: Iterable<readonly [string, Data]>): Dictionary =>
  new Dictionary(pairs, () => null);

/* The contexts that only the expressions of a job in `jobs` have. */

/** Creates the context for the combination of a job. A key that only other combinations have is null. */
export const matrixContext = (matrix: Matrix | null): Dictionary =>
  new Dictionary(
    Object.entries(matrix ?? {}).map(([key, value]) => [key, toData(value)]),
    () => null,
  );

const jobOutputs = (outputs: Record<string, string>): Dictionary =>
  outputsContext(Object.entries(outputs).map(([key, value]) => [key, textData(value)]));

/** The outputs of a job with a matrix, which are not merged. Any key is a mistake. */
const NOT_MERGED = new Dictionary([], () => ({
  message: "The needed job has a matrix: read its `jobs`, a list with the outputs of each",
  always: true,
}));

const needContext = ({ result, outcome, outputs, jobs }: Needs[string]): Dictionary => {
  const list = toData([]) as Data & { add(value: Data): void };
  for (const job of jobs)
    list.add(
      new Dictionary([
        ["matrix", toData(job.matrix)],
        ["result", textData(job.result)],
        ["outcome", textData(job.outcome)],
        ["outputs", jobOutputs(job.outputs)],
      ]),
    );
  return fixedContext([
    ["result", textData(result)],
    ["outcome", textData(outcome)],
    ["outputs", outputs ? jobOutputs(outputs) : NOT_MERGED],
    ["jobs", list],
  ]);
};

/** Creates the context with the results of the jobs that a job needs, by key. */
export const needsContext = (needs: Needs): Dictionary =>
  fixedContext(Object.entries(needs).map(([key, need]) => [key, needContext(need)]));
