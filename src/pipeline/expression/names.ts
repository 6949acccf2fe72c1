import { closestName } from "../../domain/closest-name.ts";

/** The contexts of an expression. */
export const CONTEXT_NAMES = ["vars", "secrets", "env", "build", "repository", "agent", "steps", "job"] as const;
export type ContextName = (typeof CONTEXT_NAMES)[number];

/** Contexts that only the expressions of a job in `jobs` have. Elsewhere these are names of variables. */
const JOB_CONTEXT_NAMES = ["needs", "matrix"] as const;
export type JobContextName = (typeof JOB_CONTEXT_NAMES)[number];
export const isJobContext = (name: string): name is JobContextName =>
  (JOB_CONTEXT_NAMES as readonly string[]).includes(name);

export const STATUS_FUNCTIONS = ["success", "failure", "always", "cancelled"] as const;

/** Reports whether a function depends on how jobs or steps ended. Names are in lower case. */
export const isStatusFunction = (name: string): boolean => (STATUS_FUNCTIONS as readonly string[]).includes(name);

/** Every function that an expression can call. Letter case does not count, as in GitHub Actions. */
export const FUNCTION_NAMES = [
  "contains",
  "startsWith",
  "endsWith",
  "format",
  "join",
  "toJSON",
  "fromJSON",
  "case",
  "changed",
  ...STATUS_FUNCTIONS,
];

const LITERALS = ["true", "false", "null", "NaN", "Infinity"];
const RESERVED = new Set<string>([...CONTEXT_NAMES, ...FUNCTION_NAMES, ...LITERALS]);

/** Reports whether a bare name means a variable. A file writes a variable with a reserved name as `env.NAME`. */
export const isVariableName = (name: string): boolean => !RESERVED.has(name);

/** The properties of each context with a fixed shape. The properties under `step` are for `steps.ID`. */
export const CONTEXT_PROPERTIES = {
  build: [
    "id",
    "number",
    "branch",
    "commit",
    "message",
    "attempt",
    "trigger",
    "event",
    "ref",
    "tag",
    "pull",
    "base",
    "schedule",
    "trusted",
  ],
  pull: ["number", "base", "branch"],
  repository: ["id", "fullName", "cloneUrl"],
  agent: ["id", "name", "platform"],
  job: ["status"],
  step: ["outcome", "conclusion", "exitCode", "outputs"],
  need: ["result", "outcome", "outputs", "jobs"],
} as const;

/** The names that the expressions of one job in `jobs` can use. */
export interface JobNames {
  /** The keys of the job's matrix; null if it has no matrix. */
  matrix: string[] | null;
  /** The jobs that this job needs, by key, with the names of their outputs. */
  needs: Map<string, { hasMatrix: boolean; outputs: string[] }>;
}

/**
 * The place of an expression of the job itself. `condition` is the job's `if`, which is evaluated when the job's needs
 * have ended. `plan` is everything else, which is evaluated before any job runs. At either time no agent has the job.
 */
export type JobLevel = "condition" | "plan";

const REFUSED = new Map([
  ["secrets", "Only steps read secrets: this is evaluated before an agent has the job"],
  ["env", "There is no environment before an agent has the job: write `vars.NAME` for a variable that is not secret"],
  ["agent", "This is evaluated before an agent has the job"],
  ["steps", "This is evaluated before the first step runs"],
  ["job", "This is evaluated before the job begins"],
]);

export const ONLY_IN_CONDITION =
  "This is evaluated when the build is planned, before any job has run: only `if` can use it";
const NEEDS_TOO_EARLY =
  "This is evaluated when the build is planned, before any job has run: only `if` and the steps can read `needs`";

/** Returns why an expression of a job itself cannot name a context; undefined if it can. */
export const refusedContext = (level: JobLevel, context: string): string | undefined =>
  level === "plan" && context === "needs" ? NEEDS_TOO_EARLY : REFUSED.get(context);

/** An unknown name, with the name that the author probably meant. */
interface WrongName {
  message: string;
  suggestion?: string | undefined;
}

const among = (names: readonly string[], name: string, message: string): WrongName | null =>
  names.includes(name) ? null : { message, suggestion: closestName(name, names) };

/**
 * Returns the mistake in the last of the keys after `matrix` or `needs`, such as `matrix.os` or
 * `needs.test.outputs.list`.
 */
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
  if (property === undefined)
    return among([...names.needs.keys()], first, "This job does not need a job with this name");
  if (!need || keys.length > 3) return null;
  if (output !== undefined)
    return property === "outputs" && !need.hasMatrix
      ? among(need.outputs, output, "The needed job has no such output")
      : null;
  if (property === "outputs" && need.hasMatrix)
    return { message: `This job has a matrix: read \`needs.${first}.jobs\`, a list with the outputs of each` };
  return among(CONTEXT_PROPERTIES.need, property, "A needed job has no such property");
};
