import { closestName } from "../../domain/closest-name.ts";
import type { WrittenArtifact, WrittenDownload } from "../fields/artifact-fields.ts";
import type { JobOfFile } from "../fields/job-fields.ts";
import { noJobNamed } from "../yaml/mistake.ts";
import { writtenNeedsOf } from "./check-needs.ts";
import type { ParseContext } from "./parse-context.ts";
import type { PlanArtifact, PlanDownload } from "./plan.ts";

export const parseArtifacts = (written: WrittenArtifact[] | undefined, context: ParseContext): PlanArtifact[] => {
  const seen = new Set<string>();
  return (written ?? []).flatMap((one): PlanArtifact[] => {
    const { name, path } = one;
    if (!name || !path) return [];
    const folded = name.text.normalize("NFC").toLowerCase();
    if (seen.has(folded)) context.mistake(name.node, "Another artifact of this job has this name");
    seen.add(folded);
    return [
      {
        name: name.text,
        paths: path.map(({ text }) => text),
        as: one.as ?? "files",
        keepDays: one["keep-days"] ?? null,
        ifNone: one["if-none"] ?? "fail",
        when: one.when ?? "success",
      },
    ];
  });
};

/** The jobs that one needs, and those that they need. */
const allNeeds = (job: JobOfFile, all: Map<string, JobOfFile>): Set<string> => {
  const found = new Set<string>();
  const queue = [job];
  for (const one of queue)
    for (const { text } of writtenNeedsOf(one)) {
      const needed = all.get(text);
      if (!needed || found.has(text)) continue;
      found.add(text);
      queue.push(needed);
    }
  return found;
};

const partsOf = (folder: string): string[] => folder.split("/").filter((part) => part !== "" && part !== ".");

/** What a job takes from jobs that it needs, directly or through others. */
export const downloadsOf = (
  written: WrittenDownload[] | undefined,
  job: JobOfFile,
  all: Map<string, JobOfFile>,
  context: ParseContext,
): PlanDownload[] => {
  const needed = allNeeds(job, all);
  return (written ?? []).flatMap(({ from, artifact, to }): PlanDownload[] => {
    if (!from || !to) return [];
    if (!all.has(from.text)) context.mistake(from.node, noJobNamed(from.text), closestName(from.text, [...all.keys()]));
    else if (!needed.has(from.text))
      context.mistake(from.node, "Only jobs that this one `needs`, directly or through others, have ended before it");
    return [{ from: from.text, artifact: artifact?.text ?? null, to: partsOf(to.text) }];
  });
};
