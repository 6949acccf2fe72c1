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
  /** The features beyond the first protocol that its program last reported. Absent until it reports any. */
  features?: Feature[];
  /** The Xcode versions on its machine that it last reported. */
  xcodes?: string[];
  /** Absent in records that an older release stored. */
  registeredBy?: RegisteredBy | null;
  createdAt: number;
  /** The last stored contact. A later one may be in memory. */
  heardAt: number;
  bootId: string | null;
  /** Ids of earlier boots. A late message from one of them does not mean a restart. */
  pastBoots: string[];
  /** Claimed jobs in a row that it did not start, and when the last of those leases ended. */
  ignored: number;
  ignoredAt: number;
  /** When an ephemeral agent is removed. Set at the end of its one job. */
  spentAt: number | null;
  /** Set while an ephemeral agent has its own socket. A lost socket reports nothing. */
  hasSocket?: boolean;
}

/** An agent that waits for offers, either in a poll until its deadline or on its own socket (null). */
export interface Waiter {
  until: number | null;
  /** Offers in a row that it did not follow, and when the last one was withdrawn. */
  ignored: number;
  ignoredAt: number;
}

/** A job that is reserved for a waiting agent. The agent was notified to poll. */
export interface Offer {
  agentId: string;
  at: number;
}
