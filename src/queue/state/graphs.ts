import type { JobGraph } from "../../pipeline/graph/graph.ts";
import type { JobFacts } from "./facts.ts";
import type { PoolState } from "./state.ts";

/** Key of a first job. */
const FIRST_KEY = "build";

/** The graph of a build whose jobs are not planned: its first job, which needs nothing. */
const graphOfFirst = (id: string): JobGraph => ({
  ...{ hash: "", path: null, commitSha: null, failFast: false },
  facts: { build: {}, repository: {}, vars: {}, changed: {} },
  jobs: [
    {
      ...{ id, key: FIRST_KEY, definition: FIRST_KEY, name: FIRST_KEY, matrix: null, needs: [], condition: null },
      ...{ mayFail: false, failFast: false, maxParallel: null, concurrency: null, gate: null, groups: [] },
      ...{ requires: {}, timeoutSeconds: 0, hasSteps: true },
    },
  ],
});

export const graphOf = ({ graphs }: PoolState, buildId: string): JobGraph =>
  graphs.get(buildId) ?? graphOfFirst(buildId);

/** The jobs of an active build, in the order of its graph, without those whose rows were damaged. */
export const jobsOf = (state: PoolState, buildId: string): JobFacts[] =>
  graphOf(state, buildId).jobs.flatMap(({ id }) => state.jobs.get(id) ?? []);

/** Something changed of the build: what follows from that is settled in the same step. */
export const unsettle = (state: PoolState, buildId: string): void => {
  if (state.builds.has(buildId)) state.unsettled.add(buildId);
};
