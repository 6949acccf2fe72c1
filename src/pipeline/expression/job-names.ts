import { closestName } from "../../domain/closest-name.ts";
import { CONTEXT_PROPERTIES } from "./names.ts";

/** What the expressions of one job in `jobs` can name. */
export interface JobNames {
  /** Keys of its matrix; null where it has none. */
  matrix: string[] | null;
  /** The jobs that it needs, by their keys, with the names of their outputs. */
  needs: Map<string, { hasMatrix: boolean; outputs: string[] }>;
}

/**
 * Where an expression of the job itself stands: `condition` is its `if`, evaluated when its needs have ended; `plan` is
 * all else, evaluated before any job runs. No agent has the job in either.
 */
export type JobLevel = "condition" | "plan";

const REFUSED = new Map([
  ["secrets", "Only steps read secrets: this is evaluated before an agent has the job"],
  ["env", "There is no environment before an agent has the job: write `vars.NAME` for a variable that is not secret"],
  ["agent", "No agent has the job yet where this is evaluated"],
  ["steps", "No step has run yet where this is evaluated"],
  ["job", "The job has not begun where this is evaluated"],
]);

export const ONLY_IN_CONDITION =
  "This is evaluated when the build is planned, before any job has run: only `if` can ask this";
const NEEDS_TOO_EARLY =
  "This is evaluated when the build is planned, before any job has run: only `if` and the steps can read `needs`";

/** Why an expression of a job itself cannot name a context; undefined where it can. */
export const refusedContext = (level: JobLevel, context: string): string | undefined =>
  level === "plan" && context === "needs" ? NEEDS_TOO_EARLY : REFUSED.get(context);

/** A name that is not there, with the one that was probably meant. */
interface WrongName {
  message: string;
  suggestion?: string | undefined;
}

const among = (names: readonly string[], name: string, message: string): WrongName | null =>
  names.includes(name) ? null : { message, suggestion: closestName(name, names) };

/** What is wrong with the last of the keys after `matrix` or `needs`, as `matrix.os` or `needs.test.outputs.list`. */
export const wrongJobName = (
  names: JobNames,
  context: "matrix" | "needs",
  keys: readonly string[],
): WrongName | null => {
  const [first, property, output] = keys;
  if (first === undefined) return null;
  if (context === "matrix") {
    if (property !== undefined) return null;
    if (names.matrix === null) return { message: "This job has no matrix" };
    return among(names.matrix, first, "The matrix of this job has no such key");
  }
  const need = names.needs.get(first);
  if (property === undefined) return among([...names.needs.keys()], first, "This job does not need a job of this name");
  if (!need || keys.length > 3) return null;
  if (output !== undefined)
    return property === "outputs" && !need.hasMatrix
      ? among(need.outputs, output, "The job that is needed has no such output")
      : null;
  if (property === "outputs" && need.hasMatrix)
    return { message: `This job has a matrix: read \`needs.${first}.jobs\`, a list with the outputs of each` };
  return among(CONTEXT_PROPERTIES.need, property, "A job that is needed has no such property");
};
