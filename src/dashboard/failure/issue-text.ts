import type { Build } from "../../protocol/build.ts";
import type { Excerpt } from "../../services/failure.ts";
import { refName } from "../ref-name.ts";

const FENCE = /`{3,}/g;

/** What one pastes into an issue: what failed where, and the lines, as Markdown. */
export const issueText = (build: Build, title: string, name: string, excerpt: Excerpt | null): string => {
  const where = [refName(build), build.commitSha?.slice(0, 7)].filter(Boolean).join(" at ");
  const said = `${title} in #${build.number} ${name} (${where})\n${build.webUrl ?? ""}`;
  if (!excerpt) return said;
  const longest = Math.max(
    2,
    ...excerpt.lines.flatMap(({ text }) => (text.match(FENCE) ?? []).map(({ length }) => length)),
  );
  const fence = "`".repeat(longest + 1);
  return `${said}\n\n${fence}\n${excerpt.lines.map(({ text }) => text).join("\n")}\n${fence}\n`;
};
