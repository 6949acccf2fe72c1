import type { JobEnd } from "../../src/pipeline/graph/job-end.ts";
import type { Offer } from "../../src/queue/state/agent-facts.ts";
import type { BuildFacts, JobFacts, Outcome } from "../../src/queue/state/facts.ts";
import type { SimStorage } from "./storage.ts";

/** A job, as its callers saw it. */
export interface ObservedJob {
  starts: number;
  unstarted: number;
  /** Failed tries that another one followed, and the lease of the last. */
  failedTries: number;
  lastTry: { fence: number; agentId: string } | null;
  /** The latest deadline that the pool promised to its agent. */
  promisedUntil: number;
  /** Consecutive extensions of its lease without a call of its agent. */
  unaskedExtensions: number;
  /** How often an agent released it because it could not fetch the repository. */
  unfetchedReleases: number;
  isCanceled: boolean;
  /** When its agent last got the stop, and whether an answer to its heartbeat contained it. */
  toldToStop: { at: number; isAnswered: boolean } | null;
  reported: Outcome | null;
  /** The fence of the lease that reported it; null if D1 reported it. */
  reportedUnder: number | null;
  buildId: string;
  /** Whether it was in the queue. */
  wasQueued: boolean;
}

/** A build, as its callers saw it. */
export interface ObservedBuild {
  /** When somebody canceled it, and until when jobs may clean up. */
  cancel: { at: number; until: number } | null;
  hasEnded: boolean;
  /** Whether one of its planned jobs was leased. */
  hasRun: boolean;
  /** Whether it held a place of its pipeline after the previous call. */
  holdsPlace: boolean;
  /** Whether one of its jobs cancels running jobs in its group. */
  cancelsRunning: boolean;
  /** Until when nothing can change without a call about it. */
  quietUntil: number;
  /** Jobs whose agents got the stop. */
  stopped: Set<string>;
  /** The end of each ended job. */
  ends: Map<string, JobEnd>;
}
interface ObservedAgent {
  boots: string[];
  isRemoved: boolean;
  tokenId: string | undefined;
  /** The time of its last contact. */
  seenAt: number;
  /** Consecutive builds that it claimed and did not start, and when the last of these leases ended. */
  ignored: number;
  ignoredAt: number;
}

/** A head that the pool received, with the pushes that it may be. */
export interface HeardHead {
  life: number;
  indices: number[];
  sha: string;
  before: string | null;
  /** Null if it was late. */
  buildId: string | null;
  at: number;
}

/** A build of someone else's code, as its callers saw it. */
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
  /** Granted leases, each as its job and its fence. */
  leases: Set<string>;
  revoked: Set<string>;
  /** Builds that had ended according to D1 when the pool was restored. */
  ended: Set<string>;
  builds: Map<string, ObservedBuild>;
  /** Jobs that somebody canceled individually. */
  canceledJobs: Set<string>;
  /** By job: the outputs with the accepted result, and the lease. */
  posted: Map<string, { fence: number; outputs: Record<string, string> }>;
  /** By job: the kept artifacts, each with its lease; and the lease of the result. */
  kept: Map<string, { id: string; fence: number }[]>;
  winners: Map<string, number>;
  keys: Map<string, { buildId: string; at: number; bodyHash: string }>;
  numbers: Map<string, number>;
  /** Deliveries that were carried out in full, with the answer. */
  deliveries: Map<string, { at: number; text: string }>;
  /** By pipeline and ref, in the order of arrival. */
  heads: Map<string, HeardHead[]>;
  /** Builds of someone else's code. */
  strangers: Map<string, ObservedStranger>;
  pause: ObservedPause | null;
}

// biome-ignore lint/suspicious/noExplicitAny: the input of any command
export type AnyInput = any;

/** A call, with the earlier facts that the checks compare with. */
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
  /** Builds with a stored change. */
  touched: Set<string>;
  /** Builds that ended in this call. */
  ended: Set<string>;
}

/** The facts for the checks of a call: the callers' earlier observations, the call itself and the storage. */
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

/** A build without observations. */
export const newBuild = (): ObservedBuild => ({
  ...{ cancel: null, hasEnded: false, hasRun: false, holdsPlace: false, cancelsRunning: false, quietUntil: 0 },
  stopped: new Set(),
  ends: new Map(),
});
