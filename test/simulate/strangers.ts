import type { BuildOrigin } from "../../src/githosts/core/build-origin.ts";
import type { RequestedBuild } from "../../src/queue/commands/commands.ts";

/** A push, as far as it reveals the author of its code. */
interface Push {
  ref: string;
  index: number;
}

/*
 * Code that is not the repository's own: from a fork, and from a bot on a maintainer's list. In one of four histories.
 */

const FORK = "refs/pull/7/head";
const BOT = "refs/heads/bot";

export const REFS = ["refs/heads/main", "refs/heads/topic"];
export const REFS_WITH_STRANGERS = [...REFS, FORK, BOT];

/** Returns the source of a head: one of three heads of a fork is a member's, which needs no approval. */
export const sourceOf = ({ ref, index }: Push): Pick<RequestedBuild, "trust" | "needsApproval"> => {
  if (ref === FORK) return { trust: "untrusted", needsApproval: index % 3 !== 2 };
  return ref === BOT ? { trust: "untrusted", needsApproval: false } : {};
};

export const isOfFork = ({ ref }: Pick<Push, "ref">): boolean => ref === FORK;

/** Returns the pool's facts about a pull request. */
export const pullOf = (push: Push): Pick<BuildOrigin, "event" | "pull"> =>
  isOfFork(push)
    ? { event: "pull", pull: { number: 7, base: "main", branch: "main", title: "Gift", author: "mallory" } }
    : { event: "push", pull: null };

/** Reports whether an agent with this id runs strangers' code: it has the label, and gets nothing else. */
export const runsStrangers = (agentId: string): boolean => agentId.charCodeAt(agentId.length - 1) % 3 === 0;
