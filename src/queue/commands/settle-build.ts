import { refOf } from "../../domain/git-ref.ts";
import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { JobEnd } from "../../pipeline/graph/job-end.ts";
import type { Order } from "../jobs/in-progress.ts";
import { settle } from "../jobs/settle.ts";
import {
  type Decision,
  type DecisionContext,
  decided,
  findEntry,
  isInQueue,
  type Push,
  patchBuild,
  SYSTEM,
  toHint,
} from "../state/decision.ts";
import type { BuildFacts, Change, JobFacts } from "../state/facts.ts";
import { groupRef, plannedSemaphores } from "../state/semaphores.ts";
import { graphOf, type PoolState } from "../state/state.ts";
import { cancelBuild } from "./cancel.ts";
import { endJob } from "./lease.ts";
import { effectiveLimit, isGroup } from "./match.ts";

/** Carries out everything that follows from the state of a build's jobs. */
export const settleBuild = (state: PoolState, buildId: string, context: DecisionContext): Decision<null> => {
  const build = state.builds.get(buildId);
  if (!build) return decided(null);
  const graph = graphOf(state, buildId);
  const orders = settle({
    graph,
    jobs: state.jobs,
    build,
    outputs: (jobId) => state.records.outputs(jobId),
    now: context.now,
    rules: context.rules,
  });
  const settling = new Settling(state, graph, build, context);
  for (const order of orders) settling.carryOut(order);
  settling.fillQueue();
  if (orders.length === 0) settling.noteGates();
  return decided(null, settling.changes, settling.pushes);
};

/** Returns the gates that a build waits for; null if it also waits for anything except people. */
const findGateWait = ({ jobs }: PoolState, graph: JobGraph): BuildFacts["waitsAt"] => {
  const openJobs = graph.jobs.filter(({ id }) => !jobs.get(id)?.end);
  if (openJobs.some(({ id }) => jobs.get(id)?.status !== "waiting")) return null;
  const askingJobs = openJobs.filter(({ id }) => jobs.get(id)?.gate);
  if (askingJobs.length === 0) return null;
  const isPending = askingJobs.some(({ gate }) => gate?.hostStatus === "pending");
  const names = [...new Set(askingJobs.map(({ definition }) => definition))];
  const asks = names.map((name) => ({ name, index: graph.jobs.findIndex(({ definition }) => definition === name) }));
  return { jobs: names, hostStatus: isPending ? "pending" : "success", asks };
};

type OrderOf<K extends Order["kind"]> = Extract<Order, { kind: K }>;

/** Translates orders into changes. Each order applies to the build as earlier orders left it. */
class Settling {
  readonly changes: Change[] = [];
  readonly pushes: Push[] = [];
  readonly #state: PoolState;
  readonly #graph: JobGraph;
  readonly #context: DecisionContext;
  /** The jobs, as earlier orders left them. */
  readonly #jobs = new Map<string, JobFacts>();
  /** Jobs that became ready. A later order may end one of them before it is queued. */
  readonly #ready = new Set<string>();
  #build: BuildFacts;

  constructor(state: PoolState, graph: JobGraph, build: BuildFacts, context: DecisionContext) {
    this.#state = state;
    this.#graph = graph;
    this.#build = build;
    this.#context = context;
  }

  carryOut(order: Order): void {
    switch (order.kind) {
      case "queue":
        this.#ready.add(order.jobId);
        return;
      case "ask":
        this.#ask(this.#job(order), order.until);
        return;
      case "end":
        this.#end(this.#job(order), order);
        return;
      case "withdraw":
      case "stop":
        this.#stop(this.#job(order), order);
        return;
      case "build":
        this.#follow(order);
        return;
      case "end-build":
        this.#endBuild(order);
        return;
    }
  }

  /** Queues the ready jobs that must still run, and ends the jobs that block them. */
  fillQueue(): void {
    const { now } = this.#context;
    const canceledBuilds = new Set([this.#build.id]);
    let { seq } = this.#state;
    for (const jobId of this.#ready) {
      const job = this.#job({ jobId });
      const endChanges = endHolders(
        this.#state,
        this.#build,
        this.#graph.jobs[job.index]!,
        canceledBuilds,
        this.#context,
      );
      this.#setJob({ ...job, status: "queued", seq: ++seq, queuedAt: now });
      this.changes.push(...endChanges);
    }
  }

  /** Records the state that a git host shows while the build waits only for people. */
  noteGates(): void {
    const waitsAt = findGateWait(this.#state, this.#graph);
    if (JSON.stringify(waitsAt) !== JSON.stringify(this.#build.waitsAt ?? null)) this.#patch({ waitsAt });
  }

  #job({ jobId }: { jobId: string }): JobFacts {
    return this.#jobs.get(jobId) ?? this.#state.jobs.get(jobId)!;
  }

  #setJob(job: JobFacts): void {
    this.#jobs.set(job.id, job);
    this.changes.push({ kind: "job", job });
  }

  #patch(patch: Partial<BuildFacts>): void {
    const changes = patchBuild(this.#build, patch, this.#context);
    for (const change of changes) if (change.kind === "build") this.#build = change.build;
    this.changes.push(...changes);
  }

  #follow({ kind: _, ...progress }: OrderOf<"build">): void {
    this.#patch(progress);
  }

  #ask(job: JobFacts, until: number): void {
    this.#setJob({ ...job, gate: { since: this.#context.now, until, decision: null } });
  }

  #end(
    job: JobFacts,
    { status, cause, reason, message }: Pick<OrderOf<"end">, "status" | "cause" | "reason" | "message">,
  ): void {
    const nothing = { exitCode: null, startedAt: null, agentId: null, attempt: 0, fence: 0 };
    const end: JobEnd = { ...nothing, status, cause, reason, message, finishedAt: this.#context.now };
    this.#setJob({ ...job, status, end });
  }

  /** Ends a queued job, or notifies a leased job's agent to stop it. */
  #stop(job: JobFacts, { jobId, reason, cause }: OrderOf<"stop" | "withdraw">): void {
    if (!isInQueue(job)) {
      this.#ready.delete(jobId);
      this.#end(job, { status: "canceled", cause, reason, message: null });
      return;
    }
    // The reason for the job's earlier tries no longer matters.
    const stoppedJob: JobFacts = { ...job, stopCause: cause, reason, message: null };
    const { lease } = job;
    if (!lease) {
      const outcome = { status: "canceled", exitCode: null, reason } as const;
      this.changes.push(...endJob({ job: stoppedJob }, outcome, null, this.#context));
      return;
    }
    const stop = lease.stop ?? { reason, at: this.#context.now };
    this.#setJob({ ...stoppedJob, status: "canceling", lease: { ...lease, stop } });
    this.changes.push({ kind: "stop-told", jobId, at: this.#context.now });
    this.pushes.push({ agentId: lease.agentId, hint: toHint("cancel", job) });
  }

  /** Ends the build. Closes the log of the lease under which an agent read the build's jobs. */
  #endBuild({ status, exitCode, reason, message }: OrderOf<"end-build">): void {
    const { id, plannedBy } = this.#build;
    const { now } = this.#context;
    const endPatch = { status, exitCode, reason: this.#build.reason ?? reason, message, finishedAt: now };
    this.#patch({ ...endPatch, holdsPlace: false });
    if (plannedBy) this.changes.push({ kind: "due", channel: "logs", buildId: id, at: now });
  }
}

/**
 * Ends the holders of a ready job's concurrency group, if the job's file requires their end. An older build of the
 * same pipeline and ref ends as a whole. In a build of another ref, only the holding job ends. A newer build of the
 * job's own ref keeps its place. `canceledBuilds` has the builds that are already canceled for this.
 */
const endHolders = (
  state: PoolState,
  build: BuildFacts,
  job: GraphJob,
  canceledBuilds: Set<string>,
  context: DecisionContext,
): Change[] => {
  if (job.concurrency?.whenBusy !== "cancel-running") return [];
  const semaphore = plannedSemaphores(job, { ...build, maxParallel: null, ownRef: groupRef(build) }).find(({ key }) =>
    isGroup(key),
  )!;
  const holders = [...state.index.semaphores.holders(semaphore.key).keys()];
  if (context.rules.hasRoom(holders.length, effectiveLimit(state, semaphore))) return [];
  const message = `A newer job took its place in the group ${job.concurrency.group}.`;
  return holders.flatMap((jobId): Change[] => {
    const entry = findEntry(state, jobId);
    if (!entry || canceledBuilds.has(entry.build.id) || entry.build.cancel) return [];
    const isSame = isSameRef(entry.build, build);
    if (isSame && entry.build.seq < build.seq) {
      canceledBuilds.add(entry.build.id);
      return cancelBuild(entry.build, { message, supersededBy: null }, SYSTEM, context);
    }
    if (isSame || entry.job.stopCause) return [];
    return [{ kind: "job", job: { ...entry.job, stopCause: { kind: "canceled", job: null, text: message } } }];
  });
};

const isSameRef = (one: BuildFacts, other: BuildFacts): boolean =>
  one.pipelineId !== null && one.pipelineId === other.pipelineId && refOf(one.branch) === refOf(other.branch);
