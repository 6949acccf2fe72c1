import type { Change, JobFacts } from "../../src/queue/state/facts.ts";
import { heldCurrentLease } from "./call-of-lease.ts";
import { checkAdopted } from "./check-retries.ts";
import { isPlanned } from "./check-state.ts";
import { BUILD_MS } from "./job-specification.ts";
import { type Call, type CheckContext, newBuild } from "./observations.ts";
import { must } from "./violation.ts";

const MAX_JOBS = 256;

/**
 * The end of the caller's lease: as stored, as reported to its agent, or as the same call renewed it. After an outage,
 * a call renews all leases once.
 */
const deadlineIn = ({ call: { job }, storage, observed }: CheckContext): number =>
  Math.max(
    job!.lease!.expiresAt,
    storage.rows.jobs.get(job!.id)?.lease?.expiresAt ?? 0,
    observed.jobs.get(job!.id)?.promisedUntil ?? 0,
  );

/** Jobs come only from the plan, which is accepted once. Storage still has the earlier rows. */
export const checkPlanned = (context: CheckContext, changes: readonly Change[]): void => {
  const { call, storage, observed } = context;
  const { rows } = storage;
  const fresh = new Set<string>();
  for (const change of changes) {
    if (change.kind !== "graph") continue;
    const { buildId, graph, text } = change;
    must(33, !rows.graphs.has(buildId), "a plan was accepted twice");
    must(34, new Set(graph.jobs.map(({ key }) => key)).size === graph.jobs.length, "two jobs have one key");
    must(34, graph.jobs.length <= MAX_JOBS, "a build has too many jobs");
    for (const { id } of graph.jobs) fresh.add(id);
    if (call.command === "plan") {
      must(33, call.input.jobId === buildId, "another build's plan was accepted");
      must(33, heldCurrentLease(call) && call.now < deadlineIn(context), "a plan was accepted without a lease");
      must(33, call.job!.status === "running", `a plan was accepted for a job that is ${call.job!.status}`);
      must(
        33,
        JSON.stringify([graph, text]) === JSON.stringify([call.input.graph, call.input.text]),
        "the stored plan differs from the sent one",
      );
    } else must(37, call.command === "enqueue" && !!call.input.planned, "jobs appeared without a plan");
    const last = changes.findLast((one) => one.kind === "build" && one.build.id === buildId);
    const until = last?.kind === "build" ? last.build.until : undefined;
    must(38, until === call.now + BUILD_MS, "a planned build's deadline is not 30 days from now");
    const known = observed.builds.get(buildId) ?? newBuild();
    const cancelsRunning = graph.jobs.some(({ concurrency }) => concurrency?.whenBusy === "cancel-running");
    observed.builds.set(buildId, { ...known, cancelsRunning, holdsPlace: call.command === "plan", quietUntil: 0 });
    observed.jobs.delete(buildId);
    if (call.command === "enqueue") checkAdopted(call.input.planned, changes);
  }
  for (const change of changes)
    if (change.kind === "job" && isPlanned(change.job) && !rows.jobs.has(change.job.id))
      must(37, fresh.has(change.job.id), "a job was added after the plan");
};

/** A queued job belongs to a plan, and its build has not ended. */
export const checkQueuedJob = ({ storage, observed }: CheckContext, { id, buildId }: JobFacts): void => {
  const planned = storage.rows.graphs.get(buildId);
  must(37, !!planned?.graph.jobs.some((job) => job.id === id), "the queue got a job that is in no plan");
  must(24, observed.builds.get(buildId)?.hasEnded === false, "the queue got a job of a build that has ended");
};

/** The same text again has the same answer, whatever ids the second reading gave. */
export const checkPlan = ({ storage }: CheckContext, value: unknown, { input, audits, build }: Call): void => {
  const stored = storage.rows.graphs.get(input.jobId)!;
  must(33, stored.text === input.text, "a second plan with another text was accepted");
  const ids = stored.graph.jobs.map(({ id, key }) => ({ id, key }));
  const answered = (value as { jobs?: unknown } | null)?.jobs;
  must(33, answered === undefined || JSON.stringify(answered) === JSON.stringify(ids), "a plan has two answers");
  if (build?.until === null) must(40, audits.includes(`build.plan ${input.jobId}`), "a plan left no audit entry");
};
