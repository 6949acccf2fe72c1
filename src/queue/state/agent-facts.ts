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
  /** The features beyond the first protocol that the agent's program last reported; absent until it reports any. */
  features?: Feature[];
  /** The Xcode versions on the agent's machine that its program last reported. */
  xcodes?: string[];
  /** The token that registered the agent; absent in records that an older release stored. */
  registeredBy?: RegisteredBy | null;
  createdAt: number;
  /** The last stored contact. Memory may have a later contact. */
  heardAt: number;
  bootId: string | null;
  /** Ids of earlier boots. A late message from an earlier boot does not mean a restart. */
  pastBoots: string[];
  /** Consecutive claimed jobs that the agent did not start, and when the last of those leases ended. */
  ignored: number;
  ignoredAt: number;
  /** When the pool removes an ephemeral agent. The end of its one job sets this. */
  spentAt: number | null;
  /** Set while an ephemeral agent has its own socket. Nothing reports the loss of a socket. */
  hasSocket?: boolean;
}

/** An agent that waits for offers, either in a poll until its deadline or on its own socket (null). */
export interface Waiter {
  until: number | null;
  /** Consecutive offers that the agent did not follow, and when the pool withdrew the last one. */
  ignored: number;
  ignoredAt: number;
}

/** A job that is reserved for a waiting agent. The pool has notified the agent to poll. */
export interface Offer {
  agentId: string;
  at: number;
}
