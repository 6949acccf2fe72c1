import type { BuildEvent } from "../../protocol/build.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";

/** An ended build, or one job in such builds. Facts that an older release did not store are absent. */
export interface Run {
  /** The run's id. Ids increase with the time of creation. */
  id: string;
  status: EndedStatus;
  event?: BuildEvent;
  commitSha?: string | null;
  retryOf?: string | null;
  isUntrusted?: boolean;
}

export interface FailingRuns<R> {
  /** The first failure after the last success. */
  first: R;
  /** The number of failures from `first` on. A build and its retries count once. */
  builds: number;
  /** The number of the failures' commits; null if one of the commits is unknown. */
  commits: number | null;
  /**
   * Whether `first` certainly failed first. If false, an earlier run may have failed first, because the previous run is
   * not known to have succeeded.
   */
  isCertain: boolean;
  /** Whether the same commit succeeded before, so that the cause is not in the commit. */
  hasPassed: boolean;
}

/** A run, and the id of the run in whose place it counts: its own id, or the id of the run that it retries. */
interface PlacedRun<R> {
  run: R;
  place: string;
}

const hasVerdict = ({ status, isUntrusted = false }: Run): boolean => status !== "canceled" && !isUntrusted;

/**
 * Orders the runs by their commits. A retry comes right after the run that it repeats, however old that run is. So does
 * a requested run of a commit that was built before.
 */
const inOrder = <R extends Run>(runs: readonly R[]): PlacedRun<R>[] => {
  const places = new Map<string, string>();
  const ofCommits = new Map<string, string>();
  const placedRuns = runs
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((run) => {
      const { id, event, commitSha, retryOf } = run;
      const again = event === "api" && commitSha ? ofCommits.get(commitSha) : undefined;
      const place = retryOf ? (places.get(retryOf) ?? retryOf) : (again ?? id);
      places.set(id, place);
      if (commitSha && !retryOf) ofCommits.set(commitSha, place);
      return { run, place };
    });
  // The sort is stable, so runs in one place keep the order of their ids.
  return placedRuns.sort((a, b) => (a.place === b.place ? 0 : a.place < b.place ? -1 : 1));
};

const areOfOneCommit = (one: PlacedRun<Run>, other: PlacedRun<Run>): boolean =>
  one.place === other.place || (one.run.commitSha != null && one.run.commitSha === other.run.commitSha);

/** Counts the commits; null if one is unknown. */
const countCommits = (failed: readonly PlacedRun<Run>[]): number | null => {
  const commits = failed.map(({ run }) => run.commitSha ?? null);
  return commits.includes(null) ? null : new Set(commits).size;
};

/** Reports whether no commit without a verdict lies between the last success and the first failure. */
const isCertain = (
  placedRuns: readonly PlacedRun<Run>[],
  green: PlacedRun<Run> | undefined,
  first: PlacedRun<Run>,
): boolean =>
  green !== undefined &&
  placedRuns
    .filter(({ place }) => place > green.place && place < first.place)
    .every((one) => areOfOneCommit(one, green) || areOfOneCommit(one, first));

/**
 * Finds when the runs of one pipeline and ref began to fail; null if the newest commit with a verdict succeeded. A
 * canceled run has no verdict. An untrusted run has no verdict either, because it lacks secrets.
 */
export const failingSince = <R extends Run>(runs: readonly R[]): FailingRuns<R> | null => {
  const placedRuns = inOrder(runs);
  const judged = placedRuns.filter(({ run }) => hasVerdict(run));
  const lastGreen = judged.findLastIndex(({ run }) => run.status === "succeeded");
  const failed = judged.slice(lastGreen + 1);
  const [first] = failed;
  if (!first) return null;
  return {
    first: first.run,
    builds: new Set(failed.map(({ place }) => place)).size,
    commits: countCommits(failed),
    isCertain: isCertain(placedRuns, judged[lastGreen], first),
    hasPassed: judged.some((one) => one.run.status === "succeeded" && areOfOneCommit(one, first)),
  };
};
