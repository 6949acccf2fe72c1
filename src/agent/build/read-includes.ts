import { type IncludedText, KnownFiles, type ToInclude } from "../../pipeline/parse/included-files.ts";
import { type Parsed, parsePlan } from "../../pipeline/parse/parse.ts";
import type { Fetched } from "../checkout/checkout.ts";
import { readIncluded } from "../checkout/included-files.ts";

/** A file that was parsed, with those of the same commit that it includes. */
export interface ParsedWithIncludes {
  parsed: Parsed;
  includes: IncludedText[];
}

/**
 * Parses a file of a commit, and reads what it includes: each round knows one level more of them.
 * @throws BuildFailure checkout-failed
 */
export const parseInCommit = async (
  text: string,
  commit: Pick<Fetched, "gitContext" | "commitSha">,
): Promise<ParsedWithIncludes> => {
  const known = new Map<string, ToInclude>();
  for (;;) {
    const missing = new Set<string>();
    const files = new KnownFiles(known, (path) => {
      missing.add(path);
      return { problem: "This file was not read" };
    });
    const parsed = parsePlan(text, files.find);
    if (missing.size === 0) return { parsed, includes: files.used };
    for (const [path, file] of await readIncluded(commit, [...missing])) known.set(path, file);
  }
};
