import { byteSize, LIMITS, withCommas } from "../protocol/limits.ts";
import type { Origin } from "../protocol/pipeline.ts";
import type { Scope } from "../protocol/variable.ts";

/** A stored variable as composition sees it; `value` may be null where it is not to be opened (the preview). */
export interface ScopedVariable<Value extends string | null = string> {
  id: string;
  scope: Scope;
  groupId: string | null;
  key: string;
  value: Value;
  isSecret: boolean;
  isActive: boolean;
  allowOverride: boolean;
  version: number;
}

/** What one build's environment is made of. Every variable is of this build's own scopes; the order is free. */
export interface Composition<Value extends string | null = string> {
  variables: ScopedVariable<Value>[];
  /** The pipeline's groups in its order: a later one wins. Variables of other groups are left out. */
  groupIds: string[];
  /** `envVariables` of the run. */
  run: Record<string, string>;
  /** Keys the trigger marks as secret. */
  secretKeys: string[];
}

/** Who the run serves: an untrusted one (a fork's) is given no secret. */
export type Trust = "trusted" | "untrusted";

interface Place {
  scope: Origin;
  groupId: string | null;
  variableId: string | null;
}

/** A key of the composed environment: the winner, and what it overrides, the nearest first. */
export interface ComposedEntry<Value extends string | null = string> extends Place {
  key: string;
  value: Value | string;
  isSecret: boolean;
  version: number | null;
  overrides: Place[];
}

/** The environment is beyond its limits: nothing of it is handed out. */
export class EnvironmentTooLarge extends Error {
  readonly what: "variables" | "bytes";
  constructor(what: "variables" | "bytes") {
    super(
      what === "variables"
        ? `The build would have more than ${withCommas(LIMITS.activeVariables)} active variables`
        : `The build's environment would have more than ${byteSize(LIMITS.environmentBytes)}`,
    );
    this.what = what;
  }
}

interface Layered<Value extends string | null> extends Place {
  key: string;
  value: Value | string;
  isSecret: boolean;
  version: number | null;
}

const LAYERS: Scope[] = ["organization", "group", "repository", "pipeline"];

/** Active variables and the run's, the weakest first. */
const layered = <Value extends string | null>(input: Composition<Value>): Layered<Value>[] => {
  const groupOrder = new Map(input.groupIds.map((id, index) => [id, index]));
  const marked = new Set(input.secretKeys);
  const stored = input.variables
    .filter((variable) => variable.isActive)
    .filter((variable) => variable.scope !== "group" || groupOrder.has(variable.groupId ?? ""))
    .map(({ id, scope, groupId, key, value, isSecret, version }) => ({
      ...{ scope, groupId, variableId: id, key, value, version },
      isSecret: isSecret || marked.has(key),
      rank: LAYERS.indexOf(scope) + (scope === "group" ? (groupOrder.get(groupId ?? "") ?? 0) / groupOrder.size : 0),
    }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ rank: _, ...variable }) => variable);
  const run = Object.entries(input.run).map(([key, value]) => ({
    ...{ scope: "run" as const, groupId: null, variableId: null, key, value, version: null },
    isSecret: marked.has(key),
  }));
  return [...stored, ...run];
};

const byteLength = (text: string): number => new TextEncoder().encode(text).byteLength;

/**
 * The environment of one build: organization < groups in order < repository < pipeline < run. A key is secret when
 * anything that names it says so, what is overridden included. Sorted by key.
 * @throws EnvironmentTooLarge beyond `activeVariables` or `environmentBytes` of the limits.
 */
export const compose = <Value extends string | null>(
  input: Composition<Value>,
  trust: Trust,
): ComposedEntry<Value>[] => {
  const all = layered(input);
  if (all.length > LIMITS.activeVariables) throw new EnvironmentTooLarge("variables");
  const entries = new Map<string, ComposedEntry<Value>>();
  for (const variable of all) {
    const beaten = entries.get(variable.key);
    entries.set(variable.key, {
      ...variable,
      isSecret: variable.isSecret || beaten?.isSecret === true,
      overrides: beaten
        ? [{ scope: beaten.scope, groupId: beaten.groupId, variableId: beaten.variableId }, ...beaten.overrides]
        : [],
    });
  }
  const given = [...entries.values()].filter((entry) => trust === "trusted" || !entry.isSecret);
  const bytes = given.reduce((sum, entry) => sum + byteLength(entry.key) + byteLength(entry.value ?? "") + 2, 0);
  if (bytes > LIMITS.environmentBytes) throw new EnvironmentTooLarge("bytes");
  return given.sort((a, b) => (a.key < b.key ? -1 : 1));
};

/** An entry as a person may see it: no value where the key is secret. */
export const withoutSecret = <Value extends string | null>({ value, ...entry }: ComposedEntry<Value>) =>
  entry.isSecret || value === null ? entry : { ...entry, value: value as string };

/** Keys of the run that an active variable with `allowOverride: false` keeps for itself. */
export const overridesRefused = (
  variables: Pick<ScopedVariable<string | null>, "key" | "isActive" | "allowOverride">[],
  run: Record<string, string>,
): string[] => {
  const kept = new Set(variables.filter((one) => one.isActive && !one.allowOverride).map((one) => one.key));
  return Object.keys(run).filter((key) => kept.has(key));
};
