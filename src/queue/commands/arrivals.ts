import type { BuildOrigin } from "../../githosts/core/build-origin.ts";
import type { EndedRef } from "../../githosts/core/effect-facts.ts";
import type { Actor, NewBuild } from "./commands.ts";

/** A build that a delivery of a git host asks for. */
export interface RequestedBuild extends NewBuild {
  pipelineId: string;
  commitSha: string;
  origin: BuildOrigin;
  /** Whether it ends the older builds of its pipeline and ref. */
  supersedes: boolean;
}

/** What came of a delivery: the builds that it asks for, and the refs that it ends. */
export interface DeliveryRequest {
  orgId: string;
  connectionId: string;
  /** The host's own id of the delivery. Repeats of it get the same answer. */
  deliveryId: string;
  /** The name of the hook that it came to; null where a person takes it once more. */
  hook: string | null;
  builds: RequestedBuild[];
  ended: EndedRef[];
  actor: Actor;
}

/**
 * What became of one build: it was made; another delivery had made the same one; its head was replaced before it
 * arrived; or the queue refused it, for this reason.
 */
export interface DeliveredBuild {
  /** Of the build that was made or is the same, or that took the place of a late one; null where there is none. */
  buildId: string | null;
  pipelineId: string;
  outcome: "made" | "same" | "late" | "refused";
  reason?: string;
}

export interface DeliveryResult {
  /** In the order in which the delivery asked for them. */
  builds: DeliveredBuild[];
  /** Ids of the builds that were canceled, or are being canceled. */
  canceled: string[];
  /** Whether the pool knew the delivery, and did nothing. */
  isRepeat: boolean;
}
