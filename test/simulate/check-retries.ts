import type { NewPlan } from "../../src/queue/commands/commands.ts";
import type { Change } from "../../src/queue/state/facts.ts";
import { must } from "./violation.ts";

/** Adopted jobs are stored byte for byte, as the end of each job. */
export const checkAdopted = ({ graph, adopted }: NewPlan, changes: readonly Change[]): void => {
  for (const { id } of graph.jobs) {
    const last = changes.findLast((change) => change.kind === "job" && change.job.id === id);
    must(31, last?.kind === "job", "a planned job was not stored");
    const { end } = last.job;
    const expected = adopted[id];
    if (!expected) {
      must(31, !end?.adopted, "a job that must run was adopted");
      continue;
    }
    must(31, JSON.stringify(end) === JSON.stringify(expected.end), "an adopted end changed");
    const stored = changes.findLast((change) => change.kind === "outputs" && change.jobId === id);
    const outputs = stored?.kind === "outputs" ? stored.outputs : {};
    must(31, JSON.stringify(outputs) === JSON.stringify(expected.outputs), "adopted outputs changed");
  }
};

/** Returns the jobs of the ended build that run again: those that did not succeed, and all that need one of them. */
export const checkRerun = (
  old: { key: string; definition: string; needs: string[]; status: string }[],
  adopted: ReadonlySet<string>,
): void => {
  const rerun = new Set<string>();
  for (let size = -1; size < rerun.size; ) {
    size = rerun.size;
    for (const job of old) {
      const isGood = job.status === "succeeded" || job.status === "skipped";
      const isBehind = old.some((other) => job.needs.includes(other.definition) && rerun.has(other.key));
      if (!isGood || isBehind) rerun.add(job.key);
    }
  }
  for (const { key } of old)
    must(31, adopted.has(key) !== rerun.has(key), `${key} is ${adopted.has(key) ? "" : "not "}adopted`);
};
