/** The contexts of an expression. */
export const CONTEXT_NAMES = ["vars", "secrets", "env", "build", "repository", "agent", "steps", "job"] as const;
export type ContextName = (typeof CONTEXT_NAMES)[number];

export const STATUS_FUNCTIONS = ["success", "failure", "always", "cancelled"] as const;

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
    ...["event", "ref", "tag", "pull", "base", "schedule"],
  ],
  pull: ["number", "base", "branch"],
  repository: ["id", "fullName", "cloneUrl"],
  agent: ["id", "name", "platform"],
  job: ["status"],
  step: ["outcome", "conclusion", "exitCode", "outputs"],
} as const;
