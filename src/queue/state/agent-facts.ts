import type { RegisteredBy } from "../../protocol/agent.ts";
import type { Feature } from "../../protocol/jobs.ts";

/* All times are milliseconds since 1970. */

export interface AgentFacts {
  id: string;
  name: string;
  platform: number;
  canBuildIOS: boolean;
  canBuildAndroid: boolean;
  canBuildWeb: boolean;
  labels: string[];
  version: string | null;
  isDraining: boolean;
  isEphemeral: boolean;
  tokenHash: string;
  /** What its program can do beyond the first protocol, as it said last. Absent while it said nothing. */
  features?: Feature[];
  /** Versions of Xcode on its machine, as it said last. */
  xcodes?: string[];
  /** Absent in records that an older release stored. */
  registeredBy?: RegisteredBy | null;
  createdAt: number;
  /** The last contact that was stored; a later one may be in memory. */
  heardAt: number;
  bootId: string | null;
  /** Ids of earlier boots: a late message of one of them is not a restart. */
  pastBoots: string[];
  /** Jobs in a row that it claimed and did not start, and when the last of those leases ended. */
  ignored: number;
  ignoredAt: number;
  /** When an ephemeral agent is removed, set at the end of its one job. */
  spentAt: number | null;
  /** Set while an ephemeral agent has a socket of its own: a socket that is lost tells nothing when it goes. */
  hasSocket?: boolean;
}

/** An agent that waits for offers: in a poll until its deadline, or on a socket of its own (null). */
export interface Waiter {
  until: number | null;
  /** Offers in a row that it did not follow, and when the last of them was withdrawn. */
  ignored: number;
  ignoredAt: number;
}

/** A job that is reserved for a waiting agent, which was told to poll. */
export interface Offer {
  agentId: string;
  at: number;
}
