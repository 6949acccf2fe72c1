/* Names and operators of other systems' expressions, with their equivalents here. */

/** Contexts that do not exist here. */
export const CONTEXT_ADVICE = new Map([
  ["matrix", "Only a job has a matrix: write `jobs`"],
  ["strategy", "Only a job has a matrix: write `jobs`"],
  ["inputs", "Set `envVariables` in the request that triggers the build: they become variables, `env.NAME`"],
  ["parameters", "Set `envVariables` in the request that triggers the build: they become variables, `env.NAME`"],
  ["pipeline", "Set `envVariables` in the request that triggers the build: they become variables, `env.NAME`"],
  ["needs", "Only a job needs others: write `jobs`. Outputs of earlier steps are `steps.ID.outputs.NAME`"],
  ["dependencies", "A job reads those that it needs with `needs.JOB.outputs.NAME`"],
  ["jobs", "A job reads those that it needs with `needs.JOB.outputs.NAME`"],
  ["github", "Use the contexts `build`, `repository` and `agent`"],
  ["gitea", "Use the contexts `build`, `repository` and `agent`"],
  ["forgejo", "Use the contexts `build`, `repository` and `agent`"],
  ["gitlab", "Use the contexts `build`, `repository` and `agent`"],
  ["runner", "Use the context `agent`"],
  ["variables", "Variables that are not secret are in `vars`"],
]);

/** Equivalents of properties, as `context.property`. */
export const PROPERTY_EQUIVALENTS = new Map([
  ["github.sha", "build.commit"],
  ["github.ref", "build.branch"],
  ["github.ref_name", "build.branch"],
  ["github.head_ref", "build.branch"],
  ["github.run_id", "build.id"],
  ["github.run_number", "build.number"],
  ["github.run_attempt", "build.attempt"],
  ["github.repository", "repository.fullName"],
  ["github.event_name", "build.trigger"],
  ["runner.os", "agent.platform"],
  ["runner.name", "agent.name"],
  ["build.sha", "build.commit"],
  ["build.commitSha", "build.commit"],
  ["build.ref", "build.branch"],
  ["build.ref_name", "build.branch"],
  ["build.source", "build.trigger"],
  ["build.event", "build.trigger"],
  ["build.run_number", "build.number"],
  ["repository.name", "repository.fullName"],
  ["repository.url", "repository.cloneUrl"],
  ["agent.os", "agent.platform"],
]);

/** Equivalents of a step's properties. */
export const STEP_PROPERTY_EQUIVALENTS = new Map([
  ["result", "outcome"],
  ["status", "outcome"],
  ["exit_code", "exitCode"],
]);

/** Advice on functions, by their names in lower case. */
export const FUNCTION_ADVICE = new Map([
  [
    "hashfiles",
    "There is no function `hashFiles`: compute the hash in a step, and read it with `steps.ID.outputs.NAME`",
  ],
  ["succeeded", "There is no function `succeeded`: write `success()`"],
  ["failed", "There is no function `failed`: write `failure()`"],
  ["eq", "There is no function `eq`: write `a == b`"],
  ["ne", "There is no function `ne`: write `a != b`"],
  ["and", "There is no function `and`: write `a && b`"],
  ["or", "There is no function `or`: write `a || b`"],
  ["not", "There is no function `not`: write `!a`"],
  ["in", 'There is no function `in`: write `contains(fromJSON(\'["x", "y"]\'), a)`'],
]);

/** Words that other languages use as operators. */
export const OPERATOR_ADVICE = new Map([
  ["and", "Write `&&`"],
  ["or", "Write `||`"],
  ["not", "Write `!`"],
  ["is", "Write `==`"],
  ["eq", "Write `==`"],
  ["ne", "Write `!=`"],
  ["in", "Write `contains(list, item)`"],
]);

/** Characters that cannot begin a token here. */
export const SIGN_ADVICE = new Map([
  ["=~", "There are no regular expressions: use startsWith(), endsWith() or contains()"],
  ["!~", "There are no regular expressions: use startsWith(), endsWith() or contains()"],
  ["=", "Write `==` to compare"],
  ["&", "Write `&&`"],
  ["|", "Write `||`"],
  ["$", "Write the name without `$`; branch and commit are `build.branch` and `build.commit`"],
  ['"', "Put text in single quotes: 'text'"],
  ["`", "Put text in single quotes: 'text'"],
  ["?", "Write `case(condition, value, otherwise)`"],
  ["+", "There is no arithmetic: compute in a step, or join texts with `format('{0}{1}', a, b)`"],
  ["/", "There is no arithmetic and there are no regular expressions: compute in a step"],
  ["%", "There is no arithmetic: compute in a step"],
]);
