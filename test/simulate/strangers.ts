import type { BuildOrigin } from "../../src/githosts/core/build-origin.ts";
import type { RequestedBuild } from "../../src/queue/commands/commands.ts";

/** A push, as far as it tells whose code it is. */
interface Push {
  ref: string;
  index: number;
}

/* Code that is not the repository's own: of a fork, and of a bot that a maintainer lists. In one of four histories. */

const FORK = "refs/pull/7/head";
const BOT = "refs/heads/bot";

export const REFS = ["refs/heads/main", "refs/heads/topic"];
export const REFS_WITH_STRANGERS = [...REFS, FORK, BOT];

/** Whose code a head is: one of three of a fork is a member's, whom nobody has to approve. */
export const sourceOf = ({ ref, index }: Push): Pick<RequestedBuild, "trust" | "needsApproval"> => {
  if (ref === FORK) return { trust: "untrusted", needsApproval: index % 3 !== 2 };
  return ref === BOT ? { trust: "untrusted", needsApproval: false } : {};
};

export const isOfFork = ({ ref }: Pick<Push, "ref">): boolean => ref === FORK;

/** What the pool knows of a pull request. */
export const pullOf = (push: Push): Pick<BuildOrigin, "event" | "pull"> =>
  isOfFork(push)
    ? { event: "pull", pull: { number: 7, base: "main", branch: "main", title: "Gift", author: "mallory" } }
    : { event: "push", pull: null };

/** Whether an agent of this id runs what strangers wrote: it has the label, and gets nothing else. */
export const runsStrangers = (agentId: string): boolean => agentId.charCodeAt(agentId.length - 1) % 3 === 0;
