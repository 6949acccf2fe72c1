import { refOf } from "../../domain/git-ref.ts";
import type { Forks } from "../../protocol/repository.ts";
import type { Arrival } from "./arrival.ts";
import { type OpenPull, type RefEvent, refOfPull, type WantedBuild } from "./effect-facts.ts";

/** A repository's rules about whose code to build, and how. */
export interface SourceRules {
  forks: Forks;
  /** Logins whose pushes and pull requests are treated like a stranger's. Letter case does not count. */
  untrustedAuthors: readonly string[];
}

export type SourceTrust = Pick<WantedBuild, "trust" | "needsApproval">;

const TRUSTED: SourceTrust = { trust: "trusted", needsApproval: false };
/** The trust in a listed author. Nobody needs to approve the code of an author who may write to the repository. */
const OF_LISTED_AUTHOR: SourceTrust = { trust: "untrusted", needsApproval: false };

/** Returns the listed ones of the logins, without duplicates and in lower case. */
export const filterListed = (
  { untrustedAuthors }: Pick<SourceRules, "untrustedAuthors">,
  logins: readonly (string | null)[],
): string[] => {
  const lowerLogins = new Set(logins.map((login) => login?.toLowerCase()));
  return [...new Set(untrustedAuthors.map((name) => name.toLowerCase()))].filter((name) => lowerLogins.has(name));
};

/**
 * Judges the source of a delivery's code. The service never trusts a fork's code, whoever wrote it. It does not trust a
 * branch if a listed author ever pushed to it, or created one of its pull requests. `pulls` are the open pull requests
 * of the ref.
 */
export const judgeSource = (event: RefEvent, rules: SourceRules, pulls: readonly OpenPull[]): SourceTrust => {
  switch (event.kind) {
    case "push":
    case "tag":
    case "pull":
    case "merge-group": {
      if (event.kind === "pull" && event.isFork)
        return { trust: "untrusted", needsApproval: rules.forks !== "members" || !event.isByMember };
      const authors = [event.sender, ...event.pushers, ...pulls.map(({ author }) => author)];
      return filterListed(rules, authors).length > 0 ? OF_LISTED_AUTHOR : TRUSTED;
    }
    case "gone":
      return TRUSTED;
  }
};

/* The sender of a delivery need not be the author of its commits, so the service records what listed authors pushed. */

/** The logins that pushed a full ref or a commit, in lower case. */
export interface PushedBy {
  name: string;
  login: string;
}

type PullChange = Extract<Arrival, { kind: "pull" }>;

interface Rules extends SourceRules {
  defaultBranch: string;
}

/** The keys under which to find earlier pushers of a delivery. `before` is the commit on which the delivery builds. */
interface Places {
  ref: string | null;
  sha: string | null;
  before: string | null;
}

export const findPlaces = (arrival: Arrival): Places => {
  const nowhere = { ref: null, sha: null, before: null };
  switch (arrival.kind) {
    case "push":
      return { ref: arrival.ref, sha: arrival.sha, before: arrival.before };
    case "pull":
      return { ...nowhere, ref: refOfPull(arrival), sha: arrival.sha };
    // A tag collects no pushers, because it is only its commit.
    case "tag":
      return { ...nowhere, sha: arrival.sha };
    case "deleted":
      return { ...nowhere, ref: arrival.ref };
    default:
      return nowhere;
  }
};

/** Reports whether an existing branch has a new head. The delivery's sender is responsible for the chosen commit. */
const isMove = (arrival: Arrival): boolean =>
  arrival.kind === "push" ? arrival.before !== null : arrival.kind === "pull" && arrival.action === "new-head";

const isOfDefault = (ref: string | null, { defaultBranch }: Rules): boolean => ref === refOf(defaultBranch);

/**
 * Returns the known earlier pushers of a delivery's commits. The default branch has no such pushers: all branches start
 * there, so only its newest head counts.
 */
export const pushersBefore = (arrival: Arrival, pushedBy: readonly PushedBy[], rules: Rules): string[] => {
  const { ref, sha } = findPlaces(arrival);
  if (isOfDefault(ref, rules)) return [];
  return pushedBy.filter(({ name }) => name !== sha || !isMove(arrival)).map(({ login }) => login);
};

/**
 * Reports whether someone other than the pull request's author pushed the head of a fork, whoever labels the pull
 * request.
 */
export const isOfAnother = (arrival: Arrival, pushedBy: readonly PushedBy[]): boolean =>
  arrival.kind === "pull" &&
  pushedBy.some(({ name, login }) => name === arrival.sha && login !== arrival.pull.author?.toLowerCase());

/** The changes of the record of pushers by a delivery: what to add, and what to remove. */
interface PusherChanges {
  added: PushedBy[];
  forgotten: string[];
}

const NOTHING: PusherChanges = { added: [], forgotten: [] };

const without = (pushedBy: readonly PushedBy[], additions: PushedBy[]): PushedBy[] =>
  additions.filter((one) => !pushedBy.some(({ name, login }) => name === one.name && login === one.login));

/** Records heads that someone other than the author pushed to a member's fork, if members need no approval. */
const learnOfFork = (
  { action, sender, sha, pull }: PullChange,
  pushedBy: readonly PushedBy[],
  rules: Rules,
): PusherChanges => {
  const isKept = action === "new-head" && rules.forks === "members" && sender !== pull.author;
  const added = isKept ? [{ name: sha, login: sender?.toLowerCase() ?? "" }] : [];
  return { ...NOTHING, added: without(pushedBy, added) };
};

export const learnPushers = (arrival: Arrival, pushedBy: readonly PushedBy[], rules: Rules): PusherChanges => {
  if (arrival.kind === "deleted") return { ...NOTHING, forgotten: pushedBy.map(({ name }) => name) };
  if (arrival.kind !== "push" && arrival.kind !== "pull") return NOTHING;
  if (arrival.kind === "pull" && arrival.pull.isFork) return learnOfFork(arrival, pushedBy, rules);
  // The branch of a closed request may already be deleted.
  if (arrival.kind === "pull" && arrival.action === "closed") return NOTHING;
  const { sender, sha } = arrival;
  const ref = arrival.kind === "pull" ? refOfPull(arrival) : arrival.ref;
  const pusher = arrival.kind === "push" || arrival.action === "new-head" ? sender : null;
  const logins = filterListed(rules, [...pushersBefore(arrival, pushedBy, rules), pusher]);
  if (logins.length > 0) {
    const names = isOfDefault(ref, rules) ? [] : [ref, sha];
    const all = names.flatMap((name) => logins.map((login) => ({ name, login })));
    return { ...NOTHING, added: without(pushedBy, all) };
  }
  const isVouchedFor = isMove(arrival) && pusher !== null && pushedBy.some(({ name }) => name === sha);
  return { ...NOTHING, forgotten: isVouchedFor ? [sha] : [] };
};
