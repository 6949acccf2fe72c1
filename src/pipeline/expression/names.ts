/** The contexts of an expression. */
export const CONTEXT_NAMES = ["vars", "secrets", "env", "build", "repository", "agent", "steps", "job"] as const;
export type ContextName = (typeof CONTEXT_NAMES)[number];

/** Contexts that only the expressions of a job in `jobs` have: elsewhere these are names of variables. */
const JOB_CONTEXT_NAMES = ["needs", "matrix"] as const;
export type JobContextName = (typeof JOB_CONTEXT_NAMES)[number];
export const isJobContext = (name: string): name is JobContextName =>
  (JOB_CONTEXT_NAMES as readonly string[]).includes(name);

export const STATUS_FUNCTIONS = ["success", "failure", "always", "cancelled"] as const;

/** Whether a function, its name in lower case, looks at how things have ended. */
export const isStatusFunction = (name: string): boolean => (STATUS_FUNCTIONS as readonly string[]).includes(name);

/** Every function that an expression can call; letter case is ignored, as in GitHub Actions. */
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

/** Whether a bare name means a variable. A variable with a reserved name is written `env.NAME`. */
export const isVariableName = (name: string): boolean => !RESERVED.has(name);

/** The properties of each context with a fixed shape; `step` is for `steps.ID`. */
export const CONTEXT_PROPERTIES = {
  build: [
    ...["id", "number", "branch", "commit", "message", "attempt", "trigger"],
    ...["event", "ref", "tag", "pull", "base", "schedule", "trusted"],
  ],
  pull: ["number", "base", "branch"],
  repository: ["id", "fullName", "cloneUrl"],
  agent: ["id", "name", "platform"],
  job: ["status"],
  step: ["outcome", "conclusion", "exitCode", "outputs"],
  need: ["result", "outcome", "outputs", "jobs"],
} as const;
