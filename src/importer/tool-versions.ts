import { NoEqual } from "./marks.ts";
import { findMatrixKey, type Names, textOfValue } from "./names.ts";

/* Versions as set-up actions read them, and as `tools` does. In `tools` a range means its newest version. */

/** An action's words for a version. */
export interface VersionWords {
  tool: string;
  /** Words that replace a version. */
  words?: Record<string, string>;
  /** Versions with the same name here. */
  exact?: RegExp;
}

const PLAIN = /^v?(\d+(?:\.\d+)*)(?:\.[x*])*$/;

/** Returns the beginning of the newest version in a range without `||`. */
const newestOf = (range: string): string | undefined => {
  if (/^[*x]$/.test(range)) return "latest";
  const plain = PLAIN.exec(range)?.[1];
  if (plain !== undefined) return plain;
  // A range without an upper end includes the newest version of all.
  if (/^>=\s*v?\d+(?:\.\d+)*(?:\.[x*])*$/.test(range)) return "latest";
  const about = /^([~^])\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.[x*])*$/.exec(range);
  if (about) {
    const [, sign, major, minor, patch] = about;
    if (minor === undefined) return major;
    if (sign === "~" || (major === "0" && minor !== "0")) return `${major}.${minor}`;
    return major === "0" ? (patch === undefined ? "0.0" : `0.0.${patch}`) : major;
  }
  const between = /^>=\s*v?(\d+)(?:\.\d+)*\s+<\s*v?(\d+)(?:\.0)*$/.exec(range);
  if (between && Number(between[2]) > Number(between[1])) return String(Number(between[2]) - 1);
  return undefined;
};

const newest = (a: string, b: string): string => {
  if (a === "latest" || b === "latest") return "latest";
  const [left, right] = [a, b].map((one) => one.split(".").map(Number));
  for (let index = 0; index < Math.min(left!.length, right!.length); index++)
    if (left![index] !== right![index]) return left![index]! > right![index]! ? a : b;
  return left!.length < right!.length ? a : b;
};

/** Returns the newest version of a range: `18` for `18.x` and `v18`, `20` for `^18 || ^20`. @throws {NoEqual} */
export const readVersion = (version: string, { tool, words = {}, exact }: VersionWords): string => {
  const text = version.trim();
  if (Object.hasOwn(words, text)) return words[text]!;
  if (exact?.test(text)) return text;
  const parts = text.split("||").map((one) => newestOf(one.trim()));
  const known = parts.filter((one) => one !== undefined);
  if (known.length === 0 || known.length < parts.length) throw new NoEqual(`${tool} ${text}`, "tool");
  return known.reduce(newest);
};

export const MATRIX_KEY = /\$\{\{\s*matrix\.([\w.-]+)\s*\}\}/gi;

/** Translates a version, or one that a key of the matrix decides. @throws {NoEqual} */
export const versionTemplate = (text: string, prefix: string, words: VersionWords, names: Names): string => {
  if (!text.includes("${{")) return prefix + readVersion(text, words);
  const keys = [...new Set([...text.matchAll(MATRIX_KEY)].map(([, key]) => key!.toLowerCase()))];
  const [key] = keys;
  const matrixKey = key === undefined ? undefined : findMatrixKey(names.matrix ?? [], key);
  if (
    !matrixKey ||
    keys.length > 1 ||
    matrixKey.values.includes(null) ||
    text.replaceAll(MATRIX_KEY, "").includes("${{")
  )
    throw new NoEqual(`${words.tool} ${text}`, "tool");
  const versions = [...new Set(matrixKey.values.map(textOfValue))].map(
    (value) =>
      [
        value,
        readVersion(
          text.replaceAll(MATRIX_KEY, () => value),
          words,
        ),
      ] as const,
  );
  const changed = versions.filter(([value, version]) => value !== version);
  const name = `matrix.${matrixKey.name}`;
  if (changed.length === 0) return `${prefix}\${{ ${name} }}`;
  return `${prefix}\${{ case(${changed.map(([value, version]) => `${name} == '${value.replaceAll("'", "''")}', '${version}', `).join("")}${name}) }}`;
};
