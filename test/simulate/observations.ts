import type { JobEnd } from "../../src/pipeline/graph/job-end.ts";
import type { Offer } from "../../src/queue/state/agent-facts.ts";
import type { BuildFacts, JobFacts, Outcome } from "../../src/queue/state/facts.ts";
import type { SimStorage } from "./storage.ts";

/** A job as its callers saw it. */
export interface ObservedJob {
  starts: number;
  unstarted: number;
  /** Tries that failed and that another one followed, and the lease of the last. */
  failedTries: number;
  lastTry: { fence: number; agentId: string } | null;
  /** The latest deadline that the pool promised to its agent. */
  promisedUntil: number;
  /** Extensions in a row of its lease without a call of its agent. */
  unaskedExtensions: number;
  /** How often an agent released it because it could not fetch the repository. */
  unfetchedReleases: number;
  isCanceled: boolean;
  /** When its agent was last told to stop it, and whether a heartbeat was answered with the stop. */
  toldToStop: { at: number; isAnswered: boolean } | null;
  reported: Outcome | null;
  /** The fence of the lease under which it was reported; null where D1 said it. */
  reportedUnder: number | null;
  buildId: string;
  /** Whether the queue had it. */
  wasQueued: boolean;
}

/** A build as its callers saw it. */
export interface ObservedBuild {
  /** When somebody canceled it, and until when jobs may clean up. */
  cancel: { at: number; until: number } | null;
  hasEnded: boolean;
  /** Whether one of its planned jobs was leased. */
  hasRun: boolean;
  /** Whether it held a place of its pipeline after the call before. */
  holdsPlace: boolean;
  /** Whether one of its jobs cancels what runs in its group. */
  cancelsRunning: boolean;
  /** Until when nothing can change without a call about it. */
  quietUntil: number;
  /** Jobs whose agents were told to stop. */
  stopped: Set<string>;
  /** By job that has ended: how. */
  ends: Map<string, JobEnd>;
}
interface ObservedAgent {
  boots: string[];
  isRemoved: boolean;
  tokenId: string | undefined;
  /** Time of its last sign of life. */
  seenAt: number;
  /** Builds in a row that it took and did not start, and when the last of these leases ended. */
  ignored: number;
  ignoredAt: number;
}

/** A head that the pool was told of, with the pushes that it may be. */
export interface HeardHead {
  life: number;
  indices: number[];
  sha: string;
  before: string | null;
  /** Null where it was late. */
  buildId: string | null;
  at: number;
}

/** A build of code that is not the repository's own, as its callers saw it. */
interface ObservedStranger {
  ref: string;
  sha: string | null;
  mustBeApproved: boolean;
  isApproved: boolean;
}

/** Hand-outs failed for all builds: nothing is handed out before `until`, and then one build, under this fence. */
export interface ObservedPause {
  failures: number;
  until: number;
  fence: number | null;
}

export interface Observations {
  jobs: Map<string, ObservedJob>;
  agents: Map<string, ObservedAgent>;
  /** Leases that were granted, each as its job and its fence. */
  leases: Set<string>;
  revoked: Set<string>;
  /** Builds of which D1 said that they had ended, when the pool was restored. */
  ended: Set<string>;
  builds: Map<string, ObservedBuild>;
  /** Jobs that somebody canceled alone. */
  canceledJobs: Set<string>;
  /** By job: what its agent told with the result that was accepted, and under which lease. */
  posted: Map<string, { fence: number; outputs: Record<string, string> }>;
  /** By job: the artifacts that were kept, each with its lease; and the lease under which the result came. */
  kept: Map<string, { id: string; fence: number }[]>;
  winners: Map<string, number>;
  keys: Map<string, { buildId: string; at: number; bodyHash: string }>;
  numbers: Map<string, number>;
  /** Deliveries that were carried out whole, with the answer. */
  deliveries: Map<string, { at: number; text: string }>;
  /** By pipeline and ref, in the order in which they were heard of. */
  heads: Map<string, HeardHead[]>;
  /** Builds of code that is not the repository's own. */
  strangers: Map<string, ObservedStranger>;
  pause: ObservedPause | null;
}

// biome-ignore lint/suspicious/noExplicitAny: the input of any command
export type AnyInput = any;

/** A call, with the facts from before it that the checks compare with. */
export interface Call {
  command: string;
  input: AnyInput;
  now: number;
  build: BuildFacts | undefined;
  job: JobFacts | undefined;
  heldJob: string | undefined;
  /** Gates that asked, by the ids of their jobs. */
  gates: Map<string, JobFacts>;
  offers: [jobId: string, offer: Offer][];
  audits: string[];
  /** Builds of which something was stored. */
  touched: Set<string>;
  /** Builds that ended in this call. */
  ended: Set<string>;
}

/** What the checks of a call may look at: what callers saw before it, the call itself and the storage. */
export interface CheckContext {
  readonly orgId: string;
  readonly storage: SimStorage;
  observed: Observations;
  /** The highest fence ever seen. A restore does not lower it. */
  maxFence: number;
  readonly call: Call;
  /** Whether the call has the token of an agent that is not removed. */
  isGenuine(input: AnyInput): boolean;
}

/** A build was deleted, with its jobs. */
export const forget = ({ builds, jobs }: Observations, buildId: string): void => {
  for (const [id, job] of jobs) if (job.buildId === buildId) jobs.delete(id);
  builds.delete(buildId);
};

/** A build of which nothing was seen yet. */
export const newBuild = (): ObservedBuild => ({
  ...{ cancel: null, hasEnded: false, hasRun: false, holdsPlace: false, cancelsRunning: false, quietUntil: 0 },
  stopped: new Set(),
  ends: new Map(),
});
