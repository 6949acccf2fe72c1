import { closestName } from "../closest-name.ts";
import { type Data, Dictionary, type Missing } from "./data.ts";
import type { Scope } from "./evaluate.ts";
import type { JobStatus } from "./functions.ts";
import { CONTEXT_NAMES, type ContextName, isVariableName } from "./names.ts";

/** Contexts by their names, and below them the variables of `env` by their bare names. */
class ScopeNames extends Dictionary {
  readonly #env: Dictionary;
  constructor(contexts: Record<ContextName, Dictionary>) {
    const missing = (name: string): Missing => ({
      message: "There is no variable of this name",
      suggestion: closestName(name, [...contexts.env.pairs().map((pair) => pair.key), ...CONTEXT_NAMES]),
    });
    super(Object.entries(contexts), missing);
    this.#env = contexts.env;
  }
  override get(name: string): Data | undefined {
    return super.get(name) ?? (isVariableName(name) ? this.#env.get(name) : undefined);
  }
}

export const scopeOf = (contexts: Record<ContextName, Dictionary>, status: JobStatus): Scope => ({
  names: new ScopeNames(contexts),
  status,
});

/** A context whose keys are variables. `elsewhere` are those of the other kind, and what to write for them. */
export const variableContext = (
  pairs: Iterable<readonly [string, Data]>,
  elsewhere?: { keys: Set<string>; message: string; context: "vars" | "secrets" },
): Dictionary => {
  const known: Dictionary = new Dictionary(pairs, (key) =>
    elsewhere?.keys.has(key)
      ? { message: elsewhere.message, suggestion: `${elsewhere.context}.${key}`, always: true }
      : {
          message: "There is no variable of this name",
          suggestion: closestName(
            key,
            known.pairs().map((pair) => pair.key),
          ),
        },
  );
  return known;
};

/** A context of a fixed shape: what is not in it is a mistake where null would not do. */
export const fixedContext = (pairs: Iterable<readonly [string, Data]>): Dictionary => {
  const known: Dictionary = new Dictionary(pairs, (key) => ({
    message: "This context has no such property",
    suggestion: closestName(
      key,
      known.pairs().map((pair) => pair.key),
    ),
  }));
  return known;
};

/** Outputs of a step: one that was not set is null wherever it is read. */
export const outputsContext = (pairs: Iterable<readonly [string, Data]>): Dictionary =>
  new Dictionary(pairs, () => null);
