import { data } from "@actions/expressions";
import { NoEqual } from "./marks.ts";

/* What the expressions of one place of a workflow can name, as far as the file tells it. */

type Scalar = string | number | boolean | null;

/** The values that a key of a matrix has, in all combinations. */
export interface MatrixKey {
  name: string;
  /** What it is called there, where that is another name: `os.image` is the part of a value. */
  path?: string;
  values: Scalar[];
}

/** A job that is needed. */
export interface NeededJob {
  key: string;
  hasMatrix: boolean;
  outputs: string[];
}

/** What became of a step with an id: `cache` restores one, and never finds any here. */
export type StepFate = "kept" | "cache" | "lost";

/** Which branches are built when they are pushed: all, those of some patterns, or none but those that are named. */
export type Pushes = "all" | "some" | "none";

export interface Names {
  workflow: string;
  job: string | null;
  /** Whether pull requests build it: where not, a ref needs no second look. */
  hasPulls: boolean;
  pushes: Pushes;
  /** Null where the job has no matrix, or one that could not be taken over. */
  matrix: MatrixKey[] | null;
  needs: NeededJob[];
  /** Whether ancestors were added to `needs`: then `needs.*` is another list. */
  hasMoreNeeds: boolean;
  /** `outputs` are those of a step that stands for several, by names in lower case, as expressions of this service. */
  steps: { id: string; fate: StepFate; outputs?: ReadonlyMap<string, string> }[];
  /** Whether the step is one of an action, which knows no `defaults`, where the job has a folder for its steps. */
  isOfAction?: boolean;
  /** Variables that the file sets around here. */
  env: string[];
  /** Values of those that no step changes. */
  texts?: ReadonlyMap<string, string>;
  /** Variables whose values are not yet those that GitHub would read here. */
  wrongEnv: string[];
  /** Variables that could not be taken over: a script that names one would run with nothing in its place. */
  lostEnv: string[];
  /** Variables with the folder of the checkout in them, which is known when the steps begin: a step sets them for the others. */
  ofCheckout?: ReadonlyMap<string, string>;
  /** The folder of the steps, from the checkout downwards; undefined where it is computed. */
  folder: string | undefined;
  /** Where it is evaluated before any job has run, so that nothing of `needs` is known. */
  isPlanned?: boolean;
  /** Where a name that is unknown is a mistake: everywhere but in `if`. */
  isStrict: boolean;
}

/** A matrix's value as GitHub prints it. */
export const textOfValue = (value: Scalar): string => {
  if (typeof value === "number") return new data.NumberData(value).coerceString();
  return value === null ? "" : String(value);
};

/** GitHub's `==`: numbers where both are not texts, letter case aside. */
export const isEqual = (a: Scalar, b: Scalar): boolean => {
  if (typeof a === "string" && typeof b === "string") return a.toUpperCase() === b.toUpperCase();
  if (a === null && b === null) return true;
  const toNumber = (value: Scalar) =>
    typeof value === "string" ? new data.StringData(value).number() : value === null ? 0 : Number(value);
  return toNumber(a) === toNumber(b);
};

/** Finds a name as GitHub does, letter case aside. */
export const findName = <Named>(
  list: readonly Named[],
  name: string,
  nameOf: (one: Named) => string,
): Named | undefined => list.find((one) => nameOf(one).toLowerCase() === name.toLowerCase());

/** The key that a path below `matrix` names. @throws {NoEqual} for a value with parts of its own */
export const findMatrixKey = (matrix: readonly MatrixKey[], path: string): MatrixKey | undefined => {
  const isBelow = ({ path: one }: MatrixKey) => one?.toLowerCase().startsWith(`${path.toLowerCase()}.`);
  if (matrix.some(isBelow)) throw new NoEqual(`all of \`matrix.${path}\``, "matrix");
  return findName(matrix, path, ({ name, path: one }) => one ?? name);
};

/** A text in which variables stand as their values, where no step changes them. */
export const withVariables = (text: string, { texts }: Names): string =>
  text.replaceAll(/\$\{\{\s*env\.(\w+)\s*\}\}/gi, (all, name: string) => texts?.get(name) ?? all);
