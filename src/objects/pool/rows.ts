import type { HostReport } from "../../githosts/core/host-report.ts";
import type { JobCause, JobEnd } from "../../pipeline/graph/job-end.ts";
import { type BuildStatus, isEnded, isLeased } from "../../protocol/build-states.ts";
import type { AgentFacts } from "../../queue/state/agent-facts.ts";
import type { BuildFacts, Gated, JobFacts } from "../../queue/state/facts.ts";

/* Rows of releases 0.10.0 to 0.12.0. A build had the status of its only job, and each planned job had its own build. */

type EarlierJob = Omit<JobFacts, "buildId" | "index" | "seq" | "status" | "queuedAt" | "startedAt"> & {
  maxParallel: number | null;
  inputBytes?: number;
  jobOf?: string;
};

interface EarlierBuild
  extends Omit<BuildFacts, "requires" | "maxParallel" | "maxAttempts" | "inputBytes" | "plannedBy"> {
  several?: Pick<BuildFacts, "holdsPlace" | "cancel" | "waitsAt"> & { until: number };
  asked?: BuildFacts["requires"];
}

interface EarlierNode {
  id: string;
  buildId: string;
  index: number;
  readyAt: number | null;
  gate: Gated | null;
  stopCause: JobCause | null;
  end: JobEnd | null;
}

/** A planned job of an earlier release. It lacks the queue's facts if it never reached the queue. */
export interface EarlierJobRow {
  node: EarlierNode;
  build?: EarlierBuild;
  job?: EarlierJob;
}

const isEarlierBuild = (row: object): boolean => !("until" in row);

const toEnd = (build: EarlierBuild, { agentId, attempt, retries, lease }: EarlierJob): JobEnd | null => {
  const { status, exitCode, reason, message = null, startedAt, finishedAt } = build;
  if (!isEnded(status) || finishedAt === null) return null;
  const cause = status === "canceled" ? ({ kind: "canceled", job: null, text: null } as const) : null;
  return {
    status,
    cause,
    exitCode,
    reason,
    message,
    startedAt,
    finishedAt,
    agentId,
    attempt,
    ...(retries && { retries }),
    fence: lease?.fence ?? 0,
  };
};

/** Returns why an agent had to stop, for a build that is being canceled. */
const stopReason = ({
  status,
  supersededBy,
}: {
  status: BuildStatus;
  supersededBy?: string | null;
}): JobFacts["reason"] => (status === "canceling" ? (supersededBy ? "superseded" : "canceled") : null);

/** Converts a build with its first job, unless planned jobs replaced it. */
const upgradeBuild = (row: EarlierBuild, job: EarlierJob): { build: BuildFacts; first: JobFacts | undefined } => {
  const { several, asked, ...facts } = row;
  const { maxParallel, inputBytes = 0, jobOf: _, ...rest } = job;
  const { id, seq, status, queuedAt, startedAt, message, leak, approval } = row;
  const stoppedAt = job.lease?.stop?.at ?? row.queuedAt;
  const isCanceled = status === "canceling";
  const build: BuildFacts = {
    ...facts,
    isTold: facts.isTold === true && !isEnded(status),
    requires: asked ?? job.requires,
    maxParallel,
    maxAttempts: job.maxAttempts,
    inputBytes,
    ...(several && job.fence > 0 && { plannedBy: plannedBy(job) }),
    until: several?.until ?? null,
    holdsPlace: several?.holdsPlace ?? isLeased(status),
    cancel: several ? several.cancel : isCanceled ? { at: stoppedAt, until: stoppedAt } : null,
    ...(several?.waitsAt && { waitsAt: several.waitsAt }),
    ...(approval && { approval }),
  };
  if (several) return { build, first: undefined };
  const end = toEnd(row, job);
  return {
    build,
    first: {
      ...rest,
      id,
      buildId: id,
      index: 0,
      seq,
      status,
      queuedAt,
      startedAt,
      message: message ?? null,
      reason: stopReason(row),
      leak,
      ...(end && { end }),
    },
  };
};

const plannedBy = ({ agentId, fence, attempt }: EarlierJob) => ({ agentId: agentId ?? "", fence, attempt });

const UNKNOWN: Omit<EarlierJob, "id"> = {
  requires: {},
  timeoutSeconds: 0,
  maxAttempts: 0,
  attempt: 0,
  unstarted: 0,
  releasedBy: [],
  notBefore: 0,
  lease: null,
  fence: 0,
  agentId: null,
  result: null,
  maxParallel: null,
};

/**
 * Converts a planned job. If the queue never had the job, only the plan has the facts of its file, and `maxAttempts` is
 * 0.
 */
export const upgradeJob = ({ node, build, job }: EarlierJobRow): JobFacts => {
  const { maxParallel: _, inputBytes: __, jobOf: ___, ...facts }: EarlierJob = job ?? { id: node.id, ...UNKNOWN };
  const { id, buildId, index, readyAt: queuedAt, gate, stopCause, end } = node;
  const status = end?.status ?? build?.status ?? "waiting";
  return {
    ...facts,
    id,
    buildId,
    index,
    seq: build?.seq ?? 0,
    status,
    queuedAt,
    startedAt: build?.startedAt ?? null,
    ...(job && { features: ["jobs" as const, ...(job.features ?? [])] }),
    message: build?.message ?? null,
    reason: (build?.reason ?? null) as JobFacts["reason"],
    leak: build?.leak ?? false,
    ...(gate && { gate }),
    ...(stopCause && { stopCause }),
    ...(end && { end }),
  };
};

/**
 * Reads ended builds, by id, that releases 0.10.0 to 0.13.0 had not reported to git hosts. Later releases add no such
 * rows.
 */
export const earlierReports = (sql: SqlStorage): Map<string, HostReport> => {
  const [table] = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'host_outbox'").toArray();
  const rows = table ? sql.exec<{ id: string; facts: string }>("SELECT build_id AS id, facts FROM host_outbox") : [];
  return new Map([...rows].map(({ id, facts }) => [id, JSON.parse(facts) as HostReport]));
};

/** This release cannot read the facts of a row. The organization's other rows must stay readable. */
class UnreadableRow extends Error {}

export const objectIn = (json: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "object" || value === null) throw new UnreadableRow("it is not an object");
  return value as Record<string, unknown>;
};

export const must = (isThere: boolean, what: string): void => {
  if (!isThere) throw new UnreadableRow(`it has no ${what}`);
};

/** Parses a build with its first job, unless planned jobs replaced it. @throws if the row is damaged */
export const parseBuildRow = (facts: string): { build: BuildFacts; first: JobFacts | undefined } => {
  const { job, ...build } = objectIn(facts);
  must(typeof build.id === "string" && typeof build.seq === "number" && typeof build.status === "string", "build");
  const hasJob = typeof job === "object" && job !== null && "requires" in job && "lease" in job;
  if (isEarlierBuild(build)) {
    must(hasJob, "job");
    return upgradeBuild({ version: 0, ...build } as never, job as never);
  }
  must(hasJob || !job, "job");
  return { build: build as unknown as BuildFacts, first: (job as JobFacts | undefined) ?? undefined };
};

/** Returns the fence for closing an ended build's log; 0 if no agent wrote to the log. */
export const lastFence = ({ build, first }: { build: BuildFacts; first: JobFacts | undefined }): number =>
  build.plannedBy?.fence ?? first?.fence ?? 0;

/** Returns the text of a build's row. */
export const writeBuild = (build: BuildFacts, first: JobFacts | undefined): string =>
  JSON.stringify(first ? { ...build, job: first } : build);

/** @throws if the row is damaged */
export const readAgent = (facts: string): AgentFacts => {
  const agent = objectIn(facts) as unknown as AgentFacts;
  must(typeof agent.id === "string" && typeof agent.tokenHash === "string" && Array.isArray(agent.labels), "agent");
  return agent;
};

/**
 * Returns a pool's organization, for log events; null before the pool knows it. Reads the pool's table, because an
 * alarm does not know the object's name.
 */
export const organizationIn = (sql: SqlStorage): string | null => {
  const [row] = sql.exec<{ value: string }>("SELECT value FROM meta WHERE name = 'org'");
  return row?.value ?? null;
};
