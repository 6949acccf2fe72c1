import type { EnvironmentKey } from "../../protocol/build.ts";

/** A key whose value may differ between two builds: never the value. */
export interface EnvironmentChange {
  key: string;
  change: "added" | "removed" | "changed";
  /** What differs, in short: `version 3, was 2`; `from pipeline, was organization`. */
  how: string | null;
}

const howOf = (before: EnvironmentKey, now: EnvironmentKey): string | null => {
  const parts = [
    before.scope !== now.scope && `from ${now.scope}, was ${before.scope}`,
    before.scope === now.scope &&
      before.version !== now.version &&
      `version ${now.version ?? "unknown"}, was ${before.version ?? "unknown"}`,
    before.isSecret !== now.isSecret && (now.isSecret ? "now a secret" : "no longer a secret"),
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join("; ") : null;
};

/** What changed from one environment to the other, by key. A value that has no version may have changed unseen. */
export const environmentChanges = (
  before: readonly EnvironmentKey[],
  now: readonly EnvironmentKey[],
): EnvironmentChange[] => {
  const [old, young] = [before, now].map((keys) => new Map(keys.map((one) => [one.key, one])));
  return [...new Set([...old!.keys(), ...young!.keys()])].sort().flatMap((key): EnvironmentChange[] => {
    const [was, is] = [old!.get(key), young!.get(key)];
    if (!was || !is) return [{ key, change: is ? "added" : "removed", how: null }];
    const how = howOf(was, is);
    return how === null ? [] : [{ key, change: "changed", how }];
  });
};
