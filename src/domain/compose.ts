import type { Trust } from "../protocol/build.ts";
import { byteSize, LIMITS, withCommas } from "../protocol/limits.ts";
import type { Origin } from "../protocol/pipeline.ts";
import type { FileEncoding, Scope } from "../protocol/variable.ts";

/** The form in which a value becomes a file of the build. The default name is the variable's name. */
interface FileForm {
  encoding: FileEncoding;
  name: string | null;
}

/** A stored variable. Its value is null in a preview, which opens no secret. */
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
  /** How the value becomes a file. Absent if the build gets the value itself. */
  file?: FileForm;
}

/** The parts of one build's environment. `variables` are those of the build's scopes, in any order. */
export interface Composition<Value extends string | null = string> {
  variables: ScopedVariable<Value>[];
  /** The pipeline's groups, in the pipeline's order. A later group wins. Variables of other groups are ignored. */
  groupIds: string[];
  /** The `envVariables` of the trigger request. */
  run: Record<string, string>;
  /** Keys that the trigger request marks as secret. */
  secretKeys: string[];
}

/** The place where a value was set. */
interface ValueSource {
  scope: Origin;
  groupId: string | null;
  variableId: string | null;
}

/** A key of the composed environment with the value that won, and the sources that it overrides, nearest first. */
export interface ComposedEntry<Value extends string | null = string> extends ValueSource {
  key: string;
  value: Value | string;
  isSecret: boolean;
  version: number | null;
  file?: FileForm;
  overrides: ValueSource[];
}

/** The environment exceeds its limits, so the build gets none of it. */
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

interface LayeredVariable<Value extends string | null> extends ValueSource {
  key: string;
  value: Value | string;
  isSecret: boolean;
  version: number | null;
  file?: FileForm;
}

const LAYERS: Scope[] = ["organization", "group", "repository", "pipeline"];

/** Lists active variables and those of the run. A later variable overrides an earlier one. */
const inLayers = <Value extends string | null>(input: Composition<Value>): LayeredVariable<Value>[] => {
  const groupOrder = new Map(input.groupIds.map((id, index) => [id, index]));
  const marked = new Set(input.secretKeys);
  const layerRank = ({ scope, groupId }: ScopedVariable<Value>): number =>
    LAYERS.indexOf(scope) + (scope === "group" ? (groupOrder.get(groupId ?? "") ?? 0) / groupOrder.size : 0);
  const isOfBuild = ({ scope, groupId }: ScopedVariable<Value>) => scope !== "group" || groupOrder.has(groupId ?? "");
  const storedVariables = input.variables
    .filter((variable) => variable.isActive && isOfBuild(variable))
    .map((variable) => ({ variable, rank: layerRank(variable) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ variable: { id, scope, groupId, key, value, version, isSecret, file } }) => ({
      scope,
      groupId,
      variableId: id,
      key,
      value,
      version,
      isSecret: isSecret || marked.has(key),
      ...(file && { file }),
    }));
  const source: ValueSource = { scope: "run", groupId: null, variableId: null };
  // The service rejects a request for a run with such a key. However, a schedule's values may be older than the
  // variable's setting.
  const fixedKeys = new Set(overridesRefused(input.variables.filter(isOfBuild), input.run));
  const allowed = Object.entries(input.run).filter(([key]) => !fixedKeys.has(key));
  const run = allowed.map(([key, value]) => ({
    ...source,
    key,
    value,
    version: null,
    isSecret: marked.has(key),
  }));
  return [...storedVariables, ...run];
};

const byteLength = (text: string): number => new TextEncoder().encode(text).byteLength;

/**
 * Composes the environment of one build, sorted by key. The layers are organization < groups in order < repository <
 * pipeline < run. A key is secret if any of its variables is secret, even an overridden one. An untrusted build gets no
 * secrets and no files.
 * @throws {EnvironmentTooLarge} beyond `activeVariables` or `environmentBytes` of the limits
 */
export const compose = <Value extends string | null>(
  input: Composition<Value>,
  trust: Trust,
): ComposedEntry<Value>[] => {
  const all = inLayers(input);
  if (all.length > LIMITS.activeVariables) throw new EnvironmentTooLarge("variables");
  const entries = new Map<string, ComposedEntry<Value>>();
  for (const variable of all) {
    const overridden = entries.get(variable.key);
    entries.set(variable.key, {
      ...variable,
      isSecret: variable.isSecret || overridden?.isSecret === true,
      overrides: overridden
        ? [
            { scope: overridden.scope, groupId: overridden.groupId, variableId: overridden.variableId },
            ...overridden.overrides,
          ]
        : [],
    });
  }
  const visible = [...entries.values()].filter((entry) => trust === "trusted" || (!entry.isSecret && !entry.file));
  const bytes = visible.reduce((sum, entry) => sum + byteLength(entry.key) + byteLength(entry.value ?? "") + 2, 0);
  if (bytes > LIMITS.environmentBytes) throw new EnvironmentTooLarge("bytes");
  return visible.sort((a, b) => (a.key < b.key ? -1 : 1));
};

/** Removes the value from the entry if the key is secret, so that people may see it. */
export const withoutSecret = <Value extends string | null>({ value, ...entry }: ComposedEntry<Value>) =>
  entry.isSecret || value === null ? entry : { ...entry, value: value as string };

/** Returns the keys that the run may not override, because an active variable sets `allowOverride: false`. */
export const overridesRefused = (
  variables: Pick<ScopedVariable<string | null>, "key" | "isActive" | "allowOverride">[],
  run: Record<string, string>,
): string[] => {
  const fixedKeys = new Set(variables.filter((one) => one.isActive && !one.allowOverride).map((one) => one.key));
  return Object.keys(run).filter((key) => fixedKeys.has(key));
};
