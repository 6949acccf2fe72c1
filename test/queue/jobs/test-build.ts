import type { GraphJob, JobGraph } from "../../../src/pipeline/graph/graph.ts";
import type { JobCause, JobEnd, JobEndStatus } from "../../../src/pipeline/graph/job-end.ts";
import { type BuildStatus, isEnded } from "../../../src/protocol/build-states.ts";
import type { Order } from "../../../src/queue/jobs/in-progress.ts";
import { type BuildView, JOB_RULES, type JobRules } from "../../../src/queue/jobs/rules.ts";
import { settle } from "../../../src/queue/jobs/settle.ts";
import type { JobFacts } from "../../../src/queue/state/facts.ts";
import type { plannedSemaphores } from "../../../src/queue/state/semaphores.ts";

export const DAY = 24 * 60 * 60 * 1000;

/** The stored state of a new job. */
const NEW_JOB: JobFacts = {
  ...{ id: "", buildId: "build", index: 0, seq: 0, status: "waiting", queuedAt: null, startedAt: null },
  ...{ requires: {}, timeoutSeconds: 3600, maxAttempts: 3, attempt: 0, unstarted: 0, releasedBy: [], notBefore: 0 },
  ...{ lease: null, fence: 0, agentId: null, result: null },
};

/**
 * Rules, and parts of a wrong machine: how it reads graphs, which orders it follows, its semaphores and their limits.
 */
export interface WrongRules extends JobRules {
  reads?: (graph: JobGraph) => JobGraph;
  obeys?: (orders: Order[]) => Order[];
  semaphoresOf?: typeof plannedSemaphores;
  limitOf?: (limits: readonly number[]) => number;
}

export type Happening = "plan" | "lease" | "loss" | "end" | "cancel" | "cancel of a job" | "decision" | "deadline";

type JobWords = Partial<Omit<GraphJob, "needs">> & { needs?: (string | GraphJob["needs"][number])[] };

export const graphJob = (definition: string, words: JobWords = {}): GraphJob => ({
  id: definition,
  key: definition,
  definition,
  name: definition,
  matrix: null,
  condition: null,
  mayFail: false,
  failFast: false,
  maxParallel: null,
  concurrency: null,
  gate: null,
  groups: [],
  requires: {},
  timeoutSeconds: 3600,
  hasSteps: true,
  ...words,
  needs: (words.needs ?? []).map((need) => (typeof need === "string" ? { definition: need, isOptional: false } : need)),
});

export const graphOf = (jobs: GraphJob[], words: Partial<JobGraph> = {}): JobGraph => ({
  hash: "",
  path: ".millrace.yml",
  commitSha: null,
  failFast: false,
  jobs,
  facts: { build: { branch: "main" }, repository: {}, vars: {}, changed: {} },
  ...words,
});

/** The smallest pool: one build, which settles after each event. */
export class TestBuild {
  readonly graph: JobGraph;
  readonly jobs = new Map<string, JobFacts>();
  readonly outputs = new Map<string, Record<string, string>>();
  readonly rules: WrongRules;
  build: BuildView = { status: "queued", startedAt: null, until: 30 * DAY, holdsPlace: false, cancel: null };
  end: Extract<Order, { kind: "end-build" }> | null = null;
  now = 0;
  /** Jobs that a person canceled individually. */
  readonly canceledAlone = new Set<string>();
  readonly #forgets: Happening | null;

  constructor(graph: JobGraph, rules: WrongRules = JOB_RULES, forgets: Happening | null = null) {
    this.graph = graph;
    this.#forgets = forgets;
    this.rules = rules;
    for (const [index, { id }] of graph.jobs.entries()) this.jobs.set(id, { ...NEW_JOB, id, index });
    this.#settleAfter("plan");
  }

  /** Returns the orders that remain at this time. */
  pending(now = this.now): Order[] {
    const { build, jobs, rules } = this;
    const graph = rules.reads?.(this.graph) ?? this.graph;
    const orders = settle({ graph, build, jobs, outputs: (jobId) => this.outputs.get(jobId) ?? {}, now, rules });
    return rules.obeys?.(orders) ?? orders;
  }

  #settleAfter(happening: Happening): void {
    if (happening !== this.#forgets) for (const order of this.pending()) this.#apply(order);
  }

  #patch(jobId: string, patch: Partial<JobFacts>): void {
    this.jobs.set(jobId, { ...this.jobs.get(jobId)!, ...patch });
  }

  #end(jobId: string, status: JobEndStatus, words: Partial<JobEnd> = {}): void {
    const none = { cause: null, exitCode: null, reason: null, message: null, startedAt: null, agentId: null };
    this.#patch(jobId, { status, end: { ...none, attempt: 1, fence: 1, ...words, status, finishedAt: this.now } });
  }

  #apply(order: Order): void {
    if (order.kind === "queue") this.#patch(order.jobId, { status: "queued", queuedAt: this.now });
    else if (order.kind === "ask")
      this.#patch(order.jobId, { gate: { since: this.now, until: order.until, decision: null } });
    else if (order.kind === "end") this.#end(order.jobId, order.status, order);
    else if (order.kind === "withdraw") this.#end(order.jobId, "canceled", order);
    else if (order.kind === "stop")
      this.#patch(order.jobId, { status: "canceling", stopCause: order.cause, reason: order.reason });
    else if (order.kind === "build") this.build = { ...this.build, ...order };
    else {
      this.end = order;
      this.build = { ...this.build, status: order.status, holdsPlace: false };
    }
  }

  lease(jobId: string, status: "assigned" | "running" = "running"): void {
    this.#patch(jobId, { status, startedAt: status === "running" ? this.now : null });
    this.#settleAfter("lease");
  }

  /** Ends the lease without a result. The job has an attempt left. */
  lose(jobId: string): void {
    if (this.jobs.get(jobId)!.status === "canceling") this.finish(jobId, "canceled");
    else {
      this.#patch(jobId, { status: "queued", startedAt: null });
      this.#settleAfter("loss");
    }
  }

  /** Reports a result as an agent does. A stopping job is always canceled; a failed job may have another try. */
  finish(jobId: string, status: "succeeded" | "failed" | "canceled", exitCode: number | null = null): void {
    const job = this.jobs.get(jobId)!;
    const { retries = 0, startedAt, reason = null, stopCause = null } = job;
    const { retry = 0 } = this.graph.jobs.find(({ id }) => id === jobId)!;
    if (job.status === "canceling") this.#end(jobId, "canceled", { reason, cause: stopCause, exitCode, startedAt });
    else if (status === "failed" && retries < retry)
      this.#patch(jobId, { status: "queued", startedAt: null, retries: retries + 1 });
    else this.#end(jobId, status, { exitCode, retries, startedAt });
    this.#settleAfter("end");
  }

  cancel(): void {
    if (isEnded(this.build.status)) return;
    const cancel = this.build.cancel
      ? { ...this.build.cancel, until: this.now }
      : { at: this.now, until: this.now + 5 * 60 * 1000 };
    this.build = { ...this.build, cancel };
    this.#settleAfter("cancel");
  }

  cancelJob(jobId: string, cause: JobCause = { kind: "canceled", job: null, text: null }): void {
    this.canceledAlone.add(jobId);
    this.#patch(jobId, { stopCause: cause });
    this.#settleAfter("cancel of a job");
  }

  decide(jobId: string, approved: boolean, comment: string | null = null): void {
    const { gate } = this.jobs.get(jobId)!;
    const decision = { approved, at: this.now, actor: "token:1", name: "Ada", role: "admin" as const, comment };
    this.#patch(jobId, { gate: { ...gate!, decision } });
    this.#settleAfter("decision");
  }

  wait(ms: number): void {
    this.now += ms;
    this.#settleAfter("deadline");
  }

  /** Returns the job's status. A waiting job that awaits a person's decision is a `gate`. */
  statusOf(jobId: string): string {
    const { status, gate } = this.jobs.get(jobId)!;
    return status === "waiting" && gate ? "gate" : status;
  }

  statuses(): Record<string, string> {
    return Object.fromEntries(this.graph.jobs.map(({ id }) => [id, this.statusOf(id)]));
  }

  /** The jobs in the queue or with an agent. */
  get queue(): Map<string, JobFacts> {
    return new Map([...this.jobs].filter(([, { status, end }]) => !end && status !== "waiting"));
  }

  get status(): BuildStatus {
    return this.build.status;
  }
}
