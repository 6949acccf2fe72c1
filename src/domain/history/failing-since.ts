import type { BuildEvent } from "../../protocol/build.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";

/** A build that has ended, or one job in such builds. What an older release did not keep is absent. */
export interface Run {
  /** Ids grow with the time of their creation. */
  id: string;
  status: EndedStatus;
  event?: BuildEvent;
  commitSha?: string | null;
  retryOf?: string | null;
  isUntrusted?: boolean;
}

export interface FailingRuns<R> {
  /** The first that failed after the last one that succeeded. */
  first: R;
  /** How many failed since. A build and its repeats are one. */
  builds: number;
  /** How many commits they are of; null where one of them is not known. */
  commits: number | null;
  /** False: an earlier one may have failed first, because none is known to have succeeded just before. */
  isCertain: boolean;
  /** The same commit succeeded before: what broke is not in it. */
  hasPassed: boolean;
}

/** A run, and the id of the run in whose place it counts: its own, or that of the one that it repeats. */
interface PlacedRun<R> {
  run: R;
  place: string;
}

const hasVerdict = ({ status, isUntrusted = false }: Run): boolean => status !== "canceled" && !isUntrusted;

/**
 * The runs in the order of their commits. A retry stands behind what it repeats, however old that is; so does a run
 * that a request asked for, of a commit that was built before.
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
  // The sort is stable: runs of one place stay in the order of their ids.
  return placedRuns.sort((a, b) => (a.place === b.place ? 0 : a.place < b.place ? -1 : 1));
};

const areOfOneCommit = (one: PlacedRun<Run>, other: PlacedRun<Run>): boolean =>
  one.place === other.place || (one.run.commitSha != null && one.run.commitSha === other.run.commitSha);

/** The number of commits; null where one is not known. */
const countCommits = (failed: readonly PlacedRun<Run>[]): number | null => {
  const commits = failed.map(({ run }) => run.commitSha ?? null);
  return commits.includes(null) ? null : new Set(commits).size;
};

/** Whether no commit without a verdict lies between the last that succeeded and the first that failed. */
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
 * Since when the runs of one pipeline and ref fail; null where the newest commit with a verdict succeeded. A canceled
 * run says nothing, nor does an untrusted one, which lacks secrets.
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
