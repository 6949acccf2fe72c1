import type { EnvironmentKey } from "../protocol/build.ts";

/** A key whose value may differ between two builds. The record never contains the value. */
export interface EnvironmentChange {
  key: string;
  change: "added" | "removed" | "changed";
  /** The difference in short, such as `version 3, was 2` or `from pipeline, was organization`. */
  how: string | null;
}

const describeChange = (before: EnvironmentKey, now: EnvironmentKey): string | null => {
  const parts = [
    before.scope !== now.scope && `from ${now.scope}, was ${before.scope}`,
    before.scope === now.scope &&
      before.version !== now.version &&
      `version ${now.version ?? "unknown"}, was ${before.version ?? "unknown"}`,
    before.isSecret !== now.isSecret && (now.isSecret ? "now a secret" : "no longer a secret"),
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join("; ") : null;
};

/** Lists the changes from one environment to another, by key. A value without a version may have changed unnoticed. */
export const environmentChanges = (
  before: readonly EnvironmentKey[],
  now: readonly EnvironmentKey[],
): EnvironmentChange[] => {
  const [old, young] = [before, now].map((keys) => new Map(keys.map((one) => [one.key, one])));
  return [...new Set([...old!.keys(), ...young!.keys()])].sort().flatMap((key): EnvironmentChange[] => {
    const [was, is] = [old!.get(key), young!.get(key)];
    if (!was || !is) return [{ key, change: is ? "added" : "removed", how: null }];
    const how = describeChange(was, is);
    return how === null ? [] : [{ key, change: "changed", how }];
  });
};

/** A line of two logs. It is in both, only in the newer log, or only in the older log. */
export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

/** Parts of a line that differ between runs and mean nothing: times, hashes, sizes and counts. */
const VARYING = /\b[0-9a-f]{7,64}\b|\d+(?:[.,:]\d+)*/gi;

/** Masks the varying parts of a line, so that lines that match in two runs become equal texts. */
export const maskLine = (line: string): string => line.replace(VARYING, "#").trimEnd();

/**
 * Returns the lengths of the longest common subsequences of all ends: `lengths[a][b]` for `older` from a and `newer`
 * from b.
 */
const commonLengths = (older: readonly string[], newer: readonly string[]): Uint16Array[] => {
  const lengths = Array.from({ length: older.length + 1 }, () => new Uint16Array(newer.length + 1));
  for (let a = older.length - 1; a >= 0; a--) {
    for (let b = newer.length - 1; b >= 0; b--) {
      lengths[a]![b] =
        older[a] === newer[b] ? lengths[a + 1]![b + 1]! + 1 : Math.max(lengths[a + 1]![b]!, lengths[a]![b + 1]!);
    }
  }
  return lengths;
};

/**
 * Returns the shortest difference between two logs, ignoring parts that vary. Takes time and memory proportional to the
 * product of their lengths.
 */
export const logDifference = (older: readonly string[], newer: readonly string[]): DiffLine[] => {
  const [was, is] = [older.map(maskLine), newer.map(maskLine)];
  const lengths = commonLengths(was, is);
  const lines: DiffLine[] = [];
  let [a, b] = [0, 0];
  while (a < older.length || b < newer.length) {
    if (a < older.length && b < newer.length && was[a] === is[b]) {
      lines.push({ kind: "same", text: newer[b]! });
      a += 1;
      b += 1;
    } else if (b === newer.length || (a < older.length && lengths[a + 1]![b]! >= lengths[a]![b + 1]!)) {
      lines.push({ kind: "removed", text: older[a++]! });
    } else lines.push({ kind: "added", text: newer[b++]! });
  }
  return lines;
};
