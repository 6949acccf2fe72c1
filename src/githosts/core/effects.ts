import { refOf } from "../../domain/git-ref.ts";
import type { On } from "../../pipeline/triggers/triggers.ts";
import {
  type ActivePipeline,
  type Effects,
  endsOlder,
  MERGE_QUEUE,
  type OpenPull,
  type PullEvent,
  type PushEvent,
  type RefEvent,
  type WantedBuild,
} from "./effect-facts.ts";
import { judgeSource, type SourceRules, type SourceTrust } from "./source-trust.ts";
import { NO_PIPELINE, type TriggerMatch, wantsGroup, wantsPull, wantsPush, wantsTag } from "./wants.ts";

/** Maximum builds of one delivery. Anyone who can push can name more pipelines in a file than a repository has. */
export const MOST_BUILDS = 500;

const NOTHING: Effects = { builds: [], ended: [], openPull: null, ignored: null, leftOut: [] };

interface Repository extends SourceRules {
  defaultBranch: string;
}

/** A candidate head, and each pipeline's answer: whether the pipeline wants the head, and for what purpose. */
interface Head {
  ref: string;
  sha: string;
  before: string | null;
  source: SourceTrust;
  /** Whether the head's older builds end whatever the pipeline says. */
  isAlone?: boolean;
  choose(on: On): Choice;
  /** Reports whether to read a pipeline's file at this head, even if the pipeline does not want the head. */
  mustRead(file: string): boolean;
}

interface Choice {
  answer: TriggerMatch;
  event: WantedBuild["event"];
  pull: OpenPull | null;
}

const nearer = (one: Choice, other: Choice): Choice => {
  if (one.answer.isWanted || other.answer.isWanted) return one.answer.isWanted ? one : other;
  return other.answer.near > one.answer.near ? other : one;
};

/**
 * Returns the first of a branch's pull requests that a pipeline wants. The first is the one with the lowest number,
 * whichever delivery triggers it.
 */
const choosePull = (on: On, pulls: OpenPull[], files: readonly string[] | null): Choice | null =>
  pulls
    .map((pull): Choice => ({ answer: wantsPull(on, pull, files), event: "pull", pull }))
    .reduce<Choice | null>((best, one) => (best ? nearer(best, one) : one), null);

const chooseBuilds = (head: Head, pipelines: ActivePipeline[], { defaultBranch }: Repository): Effects => {
  const { ref, sha, before, source, isAlone = false } = head;
  const builds: WantedBuild[] = [];
  let nearest = { near: -1, reason: NO_PIPELINE };
  for (const { id, file, on, supersede } of pipelines) {
    const { answer, event, pull } = head.choose(on);
    const facts = { pipelineId: id, event, ref, sha, before, pull, ...source };
    if (answer.isWanted) {
      const supersedes = isAlone || endsOlder(supersede, ref, defaultBranch);
      builds.push({ ...facts, purpose: "build", undecidedPaths: answer.undecidedPaths, supersedes });
    } else if (file !== null && head.mustRead(file)) {
      builds.push({ ...facts, purpose: "read-file", undecidedPaths: null, supersedes: false });
    } else if (answer.near > nearest.near) nearest = answer;
  }
  const ignored = builds.length === 0 ? nearest.reason : null;
  return {
    ...NOTHING,
    builds: builds.slice(0, MOST_BUILDS),
    ignored,
    leftOut: builds.slice(MOST_BUILDS),
  };
};

const endedBy = (
  { ref, pull, sha }: Omit<Effects["ended"][number], "pipelineId">,
  pipelines: ActivePipeline[],
  { defaultBranch }: Repository,
): Effects["ended"] =>
  pipelines
    .filter(({ supersede }) => endsOlder(supersede, ref, defaultBranch))
    .map(({ id }) => ({ pipelineId: id, ref, pull, sha }));

/** Ends a ref's builds in every pipeline, whatever they supersede. */
const endedAll = (ref: string, pull: number | null, pipelines: ActivePipeline[]): Effects["ended"] =>
  pipelines.map(({ id }) => ({ pipelineId: id, ref, pull, sha: null }));

const byNumber = (pulls: OpenPull[]): OpenPull[] => pulls.toSorted((one, other) => one.number - other.number);

const SKIPPED: Choice["answer"] = { isWanted: false, near: 9, reason: "skip marker" };

/**
 * Returns the complete list of files; null if it is unknown. For a new branch or a forced push, the list of commits is
 * not the list of changes.
 */
const wholeFiles = ({ before, isForced, files }: PushEvent): string[] | null =>
  before === null || isForced || /^0*$/.test(before) ? null : files;

const pushedHead = (event: PushEvent, repository: Repository, openPulls: OpenPull[]): Head => {
  const { defaultBranch } = repository;
  const { branch, sha, before, hasSkipMarker } = event;
  const ref = refOf(branch);
  const isDefault = branch === defaultBranch;
  const files = wholeFiles(event);
  const pulls = byNumber(openPulls.filter((one) => one.ref === ref));
  const source = judgeSource(event, repository, pulls);
  return {
    ref,
    sha,
    before,
    source,
    choose(on) {
      const answer = hasSkipMarker ? SKIPPED : wantsPush(on, { branch, isDefault, files });
      const asPush: Choice = { answer, event: "push", pull: pulls[0] ?? null };
      const asPull = hasSkipMarker ? null : choosePull(on, pulls, files);
      return asPull ? nearer(asPull, asPush) : asPush;
    },
    mustRead: (file) => isDefault && source.trust === "trusted" && (files === null || files.includes(file)),
  };
};

/** Returns the head of a pull request, as known before the delivery or as reported by the delivery. */
const pullHead = (event: PullEvent, pulls: OpenPull[], repository: Repository): Head => {
  const { pull, before, isFork, hasSkipMarker } = event;
  return {
    ref: pull.ref,
    sha: pull.sha,
    before,
    source: judgeSource(event, repository, [...pulls, pull]),
    isAlone: isFork,
    choose(on) {
      const choice = choosePull(on, byNumber(pulls), null) ?? {
        answer: wantsPull(on, pull, null),
        event: "pull",
        pull,
      };
      return hasSkipMarker ? { ...choice, answer: SKIPPED } : choice;
    },
    mustRead: () => false,
  };
};

/** Ends the remaining builds of a fork that the service no longer builds. */
const forksOff = ({ pull }: PullEvent, knownPull: OpenPull | undefined, pipelines: ActivePipeline[]): Effects => ({
  ...NOTHING,
  ...(knownPull && { ended: endedAll(pull.ref, pull.number, pipelines), openPull: { forget: pull.number } }),
  ignored: "fork, off",
});

/** Adds the previous head, which Gitea and GitLab may not report. The last known head serves as the previous one. */
const afterKnown = (event: PullEvent, knownPull: OpenPull | undefined): PullEvent =>
  event.isFork && event.before === null && knownPull && knownPull.sha !== event.pull.sha
    ? { ...event, before: knownPull.sha }
    : event;

const decidePull = (
  change: PullEvent,
  repository: Repository,
  pipelines: ActivePipeline[],
  openPulls: OpenPull[],
): Effects => {
  const { action, pull, isFork } = change;
  const knownPull = openPulls.find((one) => one.number === pull.number);
  if (isFork && repository.forks === "off") return forksOff(change, knownPull, pipelines);
  const event = afterKnown(change, knownPull);
  const others = openPulls.filter((one) => one.ref === pull.ref && one.number !== pull.number);
  if (action === "closed") {
    const ended = isFork
      ? endedAll(pull.ref, pull.number, pipelines)
      : others.length === 0
        ? endedBy({ ref: pull.ref, pull: pull.number, sha: null }, pipelines, repository)
        : [];
    return { ...NOTHING, ended, openPull: { forget: pull.number }, ignored: "the pull request was closed" };
  }
  const openPull = { remember: pull };
  const now = pullHead(event, [...others, pull], repository);
  if (action !== "edited" || knownPull?.sha !== pull.sha)
    return { ...chooseBuilds(now, pipelines, repository), openPull };
  const earlier = pullHead(event, [...others, knownPull], repository);
  const unwanted = pipelines.filter(({ on }) => !earlier.choose(on).answer.isWanted);
  const effects = { ...chooseBuilds(now, unwanted, repository), openPull };
  const isExplained = effects.ignored === null || unwanted.length === pipelines.length;
  return isExplained ? effects : { ...effects, ignored: "nothing that affects builds has changed" };
};

/**
 * Decides which builds a delivery creates and ends, for the active pipelines of its repository. `openPulls` are the
 * known pull requests of its ref, and the pull request with its number.
 */
export const decideEffects = (
  event: RefEvent,
  repository: Repository,
  pipelines: ActivePipeline[],
  openPulls: OpenPull[],
): Effects => {
  const mustRead = () => false;
  switch (event.kind) {
    case "push":
      if (event.branch.startsWith(MERGE_QUEUE)) return { ...NOTHING, ignored: "a merge queue branch" };
      return chooseBuilds(pushedHead(event, repository, openPulls), pipelines, repository);
    case "tag": {
      const { tag, sha, before } = event;
      const choose = (on: On): Choice => ({ answer: wantsTag(on, tag), event: "tag", pull: null });
      const source = judgeSource(event, repository, []);
      return chooseBuilds({ ref: `refs/tags/${tag}`, sha, before, source, choose, mustRead }, pipelines, repository);
    }
    case "gone": {
      const { ref, sha = null } = event;
      const ended = endedBy({ ref, pull: null, sha }, pipelines, repository);
      const what = ref.startsWith("refs/tags/") ? "tag" : "branch";
      return { ...NOTHING, ended, ignored: `the ${what} was deleted` };
    }
    case "pull":
      return decidePull(event, repository, pipelines, openPulls);
    case "merge-group": {
      const { action, sha } = event;
      const ref = refOf(event.branch);
      if (action === "gone")
        return { ...NOTHING, ended: endedAll(ref, null, pipelines), ignored: "the merge queue dropped the group" };
      const choose = (on: On): Choice => ({ answer: wantsGroup(on), event: "merge-group", pull: null });
      const source = judgeSource(event, repository, []);
      return chooseBuilds({ ref, sha, before: null, source, choose, mustRead }, pipelines, repository);
    }
  }
};

/**
 * Reports whether two wanted builds are the same. They may be from a push and its pull request, or from a repeated
 * delivery.
 */
export const isSameBuild = (one: WantedBuild, other: WantedBuild): boolean =>
  one.pipelineId === other.pipelineId &&
  one.ref === other.ref &&
  one.sha === other.sha &&
  one.purpose === other.purpose &&
  (one.before === other.before || one.before === null || other.before === null);
