import type { BuildPart } from "../../protocol/build.ts";
import type { BuildFacts, Deletion } from "./facts.ts";

/** A build as D1 has it. */
export interface StoredBuild
  extends BuildPart<"request" | "facts">,
    Pick<BuildFacts, "origin" | "message" | "queuedAt" | "startedAt" | "finishedAt" | "version"> {
  agentId: string | null;
  attempt: number;
}

/** What D1 heard of the pool's sequence: the highest, and the one up to which nothing is missing. */
export interface HeardSequence {
  sequence: number;
  complete: number;
}

export const NOTHING_HEARD: HeardSequence = { sequence: 0, complete: 0 };

/** What D1 knows that a restored pool may have forgotten. */
export interface Stored {
  /** Null where only some builds were read. */
  heard: HeardSequence | null;
  /** Builds that are under way in D1, and those that the pool asked for. */
  builds: StoredBuild[];
  numbers: { repoId: string; number: number }[];
  removedAgents: string[];
  revoked: string[];
  /** What people deleted. */
  deleted: Pick<Deletion, "buildId" | "deleted">[];
}
