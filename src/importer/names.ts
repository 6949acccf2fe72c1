import { data } from "@actions/expressions";
import { NoEqual } from "./marks.ts";

/* Names that the expressions in one place of a workflow can use, as far as the file shows. */

type Scalar = string | number | boolean | null;

/** A matrix key's values in all combinations. */
export interface MatrixKey {
  name: string;
  /** Its name on GitHub, if different: `os.image` is a part of a value. */
  path?: string;
  values: Scalar[];
}

/** A needed job. */
export interface NeededJob {
  key: string;
  hasMatrix: boolean;
  outputs: string[];
}

/** What became of a step with an id. A `cache` step restores a cache, and never reports a hit here. */
export type StepFate = "kept" | "cache" | "lost";

/** Which branches a push builds: all, those that fit patterns, or only named ones. */
export type Pushes = "all" | "some" | "none";

export interface Names {
  workflow: string;
  job: string | null;
  /** Whether pull requests trigger the workflow. If not, a ref needs no further check. */
  hasPulls: boolean;
  pushes: Pushes;
  /** Null for a job without a matrix, or with an untranslatable one. */
  matrix: MatrixKey[] | null;
  needs: NeededJob[];
  /** Whether ancestors were added to `needs`: then `needs.*` is another list. */
  hasMoreNeeds: boolean;
  /** `outputs` belong to a step that several steps replace: by names in lower case, as expressions of this service. */
  steps: { id: string; fate: StepFate; outputs?: ReadonlyMap<string, string> }[];
  /** Whether the step belongs to an action, which ignores `defaults`, in a job with a folder for its steps. */
  isOfAction?: boolean;
  /** Variables that the file sets for this place. */
  env: string[];
  /** The values of variables that no step changes. */
  texts?: ReadonlyMap<string, string>;
  /** Variables whose values differ here from what GitHub would read. */
  wrongEnv: string[];
  /** Untranslatable variables. A script that names one would run with an empty value. */
  lostEnv: string[];
  /** Variables with the checkout's folder, which is known when the steps begin. One step sets them for the others. */
  ofCheckout?: ReadonlyMap<string, string>;
  /** The folder of the steps, relative to the checkout; undefined for a computed one. */
  folder: string | undefined;
  /** Whether the expression is evaluated before any job has run, so that nothing of `needs` is known. */
  isPlanned?: boolean;
  /** Whether an unknown name is a mistake: everywhere except in `if`. */
  isStrict: boolean;
}

/** Returns a matrix value as GitHub prints it. */
export const textOfValue = (value: Scalar): string => {
  if (typeof value === "number") return new data.NumberData(value).coerceString();
  return value === null ? "" : String(value);
};

/** Compares like GitHub's `==`: as numbers unless both are texts, ignoring letter case. */
export const isEqual = (a: Scalar, b: Scalar): boolean => {
  if (typeof a === "string" && typeof b === "string") return a.toUpperCase() === b.toUpperCase();
  if (a === null && b === null) return true;
  const toNumber = (value: Scalar) =>
    typeof value === "string" ? new data.StringData(value).number() : value === null ? 0 : Number(value);
  return toNumber(a) === toNumber(b);
};

/** Finds a name as GitHub does, ignoring letter case. */
export const findName = <Named>(
  list: readonly Named[],
  name: string,
  nameOf: (one: Named) => string,
): Named | undefined => list.find((one) => nameOf(one).toLowerCase() === name.toLowerCase());

/** Returns the key that a path below `matrix` names. @throws {NoEqual} for a value with parts of its own */
export const findMatrixKey = (matrix: readonly MatrixKey[], path: string): MatrixKey | undefined => {
  const isBelow = ({ path: one }: MatrixKey) => one?.toLowerCase().startsWith(`${path.toLowerCase()}.`);
  if (matrix.some(isBelow)) throw new NoEqual(`all of \`matrix.${path}\``, "matrix");
  return findName(matrix, path, ({ name, path: one }) => one ?? name);
};

/** Replaces variables that no step changes by their values. */
export const withVariables = (text: string, { texts }: Names): string =>
  text.replaceAll(/\$\{\{\s*env\.([\w-]+)\s*\}\}/gi, (all, name: string) => texts?.get(name) ?? all);
