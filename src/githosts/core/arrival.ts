/** A repository as its host reports it. `id` stays the same when the repository is renamed or moved. */
export interface DeliveryRepository {
  id: number;
  fullName: string;
  defaultBranch: string | null;
}

/** A commit's facts, as lists show them: its first line, and its author. */
export interface CommitSummary {
  subject: string;
  author: string | null;
}

interface RepositoryEvent {
  repository: DeliveryRepository;
  /** The login of the person who triggered the event. */
  sender: string | null;
}

/** A ref was set to a commit. */
interface NewHead extends RepositoryEvent {
  ref: string;
  sha: string;
  /** The previous commit of the ref; null if the ref is new, or the host does not report it. */
  before: string | null;
  /** The head's commit; null if the host does not report it. */
  commit: CommitSummary | null;
  /** Whether the author skips the build. */
  isSkipped: boolean;
}

/** A branch was created or moved. */
interface Push extends NewHead {
  kind: "push";
  /** Whether the push was forced. Null if the host does not report it: such a push counts as one that adds commits. */
  forced: boolean | null;
  /**
   * The changed paths; null if the list is incomplete: for a new branch, for a forced push, or for a list that the host
   * cut or that was not read.
   */
  changedPaths: string[] | null;
}

interface Tag extends NewHead {
  kind: "tag";
  forced: boolean | null;
}

/** A branch or a tag was deleted. */
interface Deleted extends RepositoryEvent {
  kind: "deleted";
  ref: string;
  before: string | null;
}

/**
 * The change of a pull request. Every arrival has all facts of the pull request. `labeled` also means that a label was
 * removed.
 */
export type PullAction = "opened" | "new-head" | "reopened" | "closed" | "edited" | "labeled" | "ready";

/** A pull or merge request. `author` is null if the host does not report it with this event. */
interface PullFacts {
  number: number;
  /** The target branch, and the source branch, which may be in a fork. */
  base: string;
  branch: string;
  /** Whether the head is not a branch of the repository, so that people without write access may have created it. */
  isFork: boolean;
  /**
   * Whether the host reports that the pull request's author may write to the repository, and the author sent this
   * event.
   */
  isByMember: boolean;
  isDraft: boolean;
  isMerged: boolean;
  labels: string[];
  author: string | null;
  title: string;
  /** When the pull request last changed, by the host's clock: ISO 8601 in UTC; null if the host does not report it. */
  updatedAt: string | null;
}

/** A pull request of the repository. `ref` is the repository's own ref from which to fetch the head. */
interface PullChange extends NewHead {
  kind: "pull";
  action: PullAction;
  pull: PullFacts;
}

/** A person's request at GitHub about the check runs of a commit. */
interface ChecksEvent extends RepositoryEvent {
  /** GitHub's number of the App that owns the check runs. */
  appId: number;
  sha: string;
}

/** A person wants a rebuild. */
interface Rerun extends ChecksEvent {
  kind: "rerun";
  /** The build that the check run names; null if the request is for all builds of the commit. */
  externalId: string | null;
}

/** A person pressed one of our buttons. */
interface Pressed extends ChecksEvent {
  kind: "pressed";
  externalId: string;
  button: string;
}

/** A merge queue tests a commit, or no longer needs it because the commit was merged or removed. */
interface MergeGroup extends RepositoryEvent {
  kind: "merge-group";
  action: "asked" | "gone";
  ref: string;
  sha: string;
  /** The head of the target branch. */
  base: string | null;
}

/** The repository has a new name, owner or default branch. */
interface Renamed extends RepositoryEvent {
  kind: "renamed";
  /**
   * The previous values; null for those that have not changed. Absent in deliveries that the service kept under an
   * older release.
   */
  from?: { fullName: string | null; defaultBranch: string | null };
}

/** The host tests the hook. */
interface Ping {
  kind: "ping";
}

/**
 * An event that neither creates nor ends a build. The reason is a sentence for people, without any text from the
 * delivery.
 */
export interface Ignored {
  kind: "ignored";
  reason: string;
}

/** The event in a delivery, in the same form for every host. Every text is well formed and bounded. */
export type Arrival = Push | Tag | Deleted | PullChange | MergeGroup | Rerun | Pressed | Renamed | Ping | Ignored;

/** A person's request at the host. */
export type CheckRequest = Rerun | Pressed;

/** Returns the repository of a delivery; null if it names none. */
export const repositoryOf = (arrival: Arrival): DeliveryRepository | null =>
  "repository" in arrival ? arrival.repository : null;

export const ignored = (reason: string): Ignored => ({ kind: "ignored", reason });
