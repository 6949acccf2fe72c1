/** A repository as its host tells of it. `id` stays the same when it is renamed or moved. */
export interface DeliveryRepository {
  id: number;
  fullName: string;
  defaultBranch: string | null;
}

/** What lists show of a commit: its first line, and who wrote it. */
export interface CommitSummary {
  subject: string;
  author: string | null;
}

interface RepositoryEvent {
  repository: DeliveryRepository;
  /** The login of who did it. */
  sender: string | null;
}

/** A ref was set to a commit. */
interface NewHead extends RepositoryEvent {
  ref: string;
  sha: string;
  /** Where the ref was before; null where it is new, or where the host does not tell. */
  before: string | null;
  /** Null where the host does not tell. */
  commit: CommitSummary | null;
  /** Its author asked for no build. */
  isSkipped: boolean;
}

/** A branch was made or moved. */
interface Push extends NewHead {
  kind: "push";
  /** Null where the host does not tell: such a push is taken for one that adds commits. */
  forced: boolean | null;
  /** Null where the list is not whole: a new branch, a forced push, a list that the host cut or that was not read. */
  changedPaths: string[] | null;
}

interface Tag extends NewHead {
  kind: "tag";
  forced: boolean | null;
}

/** A branch or a tag is gone. */
interface Deleted extends RepositoryEvent {
  kind: "deleted";
  ref: string;
  before: string | null;
}

/** What happened to a pull request; every arrival has all its facts. `labeled` is also a label that was taken away. */
export type PullAction = "opened" | "new-head" | "reopened" | "closed" | "edited" | "labeled" | "ready";

/** A pull or merge request. `author` is null where the host does not tell it with this event. */
interface PullFacts {
  number: number;
  /** The branch that it is to be merged into, and the branch that it comes from: in the fork, if it is one. */
  base: string;
  branch: string;
  /** Its head is not a branch of the repository, so people without write access may have made it. */
  isFork: boolean;
  /** The host says that its author may write to the repository, and who sent this is the author. */
  isByMember: boolean;
  isDraft: boolean;
  isMerged: boolean;
  labels: string[];
  author: string | null;
  title: string;
  /** When it was last changed, by the host's clock: ISO 8601 in UTC; null where the host does not tell it. */
  updatedAt: string | null;
}

/** A pull request of the repository; `ref` is the one to fetch its head from, at the repository itself. */
interface PullChange extends NewHead {
  kind: "pull";
  action: PullAction;
  pull: PullFacts;
}

/** A person asks at GitHub for something about the check runs of a commit. */
interface ChecksEvent extends RepositoryEvent {
  /** GitHub's number of the App whose check runs they are. */
  appId: number;
  sha: string;
}

/** A person wants it to be built again. */
interface Rerun extends ChecksEvent {
  kind: "rerun";
  /** What the check run names: a build; null where all of the commit's are meant. */
  externalId: string | null;
}

/** A person pressed a button of ours. */
interface Pressed extends ChecksEvent {
  kind: "pressed";
  externalId: string;
  button: string;
}

/** A merge queue tries a commit, or has no use for it any more: merged, or given up. */
interface MergeGroup extends RepositoryEvent {
  kind: "merge-group";
  action: "asked" | "gone";
  ref: string;
  sha: string;
  /** The commit of the branch that it is to be merged into. */
  base: string | null;
}

/** The repository has another name, owner or default branch: the one that it says. */
interface Renamed extends RepositoryEvent {
  kind: "renamed";
  /** What was left; null where that is not what has changed. Absent in deliveries that an older release kept. */
  from?: { fullName: string | null; defaultBranch: string | null };
}

/** The host tries the hook. */
interface Ping {
  kind: "ping";
}

/** Nothing that makes or ends a build. The reason is a sentence for people, without any text of the delivery. */
export interface Ignored {
  kind: "ignored";
  reason: string;
}

/** What a delivery says that happened, in the same form from every host. Every text is well formed and bounded. */
export type Arrival = Push | Tag | Deleted | PullChange | MergeGroup | Rerun | Pressed | Renamed | Ping | Ignored;

/** What a person asks for at the host. */
export type CheckRequest = Rerun | Pressed;

/** The repository that a delivery tells of; null where it tells of none. */
export const repositoryOf = (arrival: Arrival): DeliveryRepository | null =>
  "repository" in arrival ? arrival.repository : null;

export const ignored = (reason: string): Ignored => ({ kind: "ignored", reason });
