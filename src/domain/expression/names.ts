/** The contexts of an expression. */
export const CONTEXT_NAMES = ["vars", "secrets", "env", "build", "repository", "agent", "steps", "job"] as const;
export type ContextName = (typeof CONTEXT_NAMES)[number];

export const STATUS_FUNCTIONS = ["success", "failure", "always", "cancelled"] as const;

/** Every function an expression may call; letter case counts for nothing, as on GitHub. */
export const FUNCTION_NAMES = [
  ...["contains", "startsWith", "endsWith", "format", "join", "toJSON", "fromJSON", "case"],
  ...STATUS_FUNCTIONS,
];

const LITERALS = ["true", "false", "null", "NaN", "Infinity"];
const TAKEN = new Set<string>([...CONTEXT_NAMES, ...FUNCTION_NAMES, ...LITERALS]);

/** Whether a bare name means a variable; one that is taken is reached by `env.NAME`. */
export const isVariableName = (name: string): boolean => !TAKEN.has(name);

/** What the contexts of a fixed shape hold. `steps.ID` has the shape of a step. */
export const CONTEXT_PROPERTIES = {
  build: ["id", "number", "branch", "commit", "message", "attempt", "trigger"],
  repository: ["id", "fullName", "cloneUrl"],
  agent: ["id", "name", "platform"],
  job: ["status"],
  step: ["outcome", "conclusion", "exitCode", "outputs"],
} as const;
