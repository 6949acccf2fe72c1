import { LIMITS } from "../../protocol/limits.ts";

/**
 * What jobs wrote for people as one text in Markdown, each under its key; null where none wrote anything. It reads no
 * further where it is longer than one summary may be: who shows it cuts it there, and those of all may be 16 MiB.
 */
export const joinedSummaries = (jobs: Iterable<{ key: string; summary: string | null }>): string | null => {
  let joined = "";
  for (const { key, summary } of jobs) {
    if (summary) joined += `${joined && "\n\n"}## ${key}\n\n${summary}`;
    if (joined.length > LIMITS.summaryCharacters) break;
  }
  return joined || null;
};
