import type { JobDefinition } from "../parse/plan.ts";

/** The definitions so that each stands behind all that it needs, else in the order of the file. */
export const inOrderOfNeeds = (jobs: readonly JobDefinition[]): JobDefinition[] => {
  const waiting = [...jobs];
  const placed = new Set<string>();
  const ordered: JobDefinition[] = [];
  while (waiting.length > 0) {
    const ready = waiting.findIndex(({ needs }) => needs.every(({ job }) => placed.has(job)));
    // A plan has no circle of needs: its file would have been refused.
    const [next] = waiting.splice(Math.max(ready, 0), 1);
    placed.add(next!.key);
    ordered.push(next!);
  }
  return ordered;
};
