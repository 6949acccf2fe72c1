import type { GraphJob, JobGraph } from "../../../src/domain/jobs/graph.ts";
import type { BuildView } from "../../../src/domain/jobs/job-view.ts";
import type { JobCause, JobEndStatus, JobNode } from "../../../src/domain/jobs/node.ts";
import { JOB_RULES, type JobRules } from "../../../src/domain/jobs/rules.ts";
import { settle } from "../../../src/domain/jobs/settle.ts";
import type { Order } from "../../../src/domain/jobs/settle-orders.ts";
import { type BuildStatus, isEnded } from "../../../src/protocol/build-states.ts";

export const DAY = 24 * 60 * 60 * 1000;

type Stop = Extract<Order, { kind: "stop" }>;

/** A job in the queue, as a pool would have it. */
interface Queued {
  status: "queued" | "assigned" | "running" | "canceling";
  stop: Stop | null;
  /** Failed tries before. */
  retries: number;
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

/** The smallest pool there is: one build, which is settled after each thing that happens to it. */
export class TestBuild {
  readonly graph: JobGraph;
  readonly nodes = new Map<string, JobNode>();
  readonly queue = new Map<string, Queued>();
  readonly outputs = new Map<string, Record<string, string>>();
  readonly rules: JobRules;
  build: BuildView = {
    status: "queued",
    several: { until: 30 * DAY, holdsPlace: false, cancel: null },
    supersededBy: null,
  };
  end: Extract<Order, { kind: "end-build" }> | null = null;
  now = 0;
  /** Jobs that a person canceled, each alone. */
  readonly canceledAlone = new Set<string>();
  readonly #forgets: Happening | null;

  constructor(graph: JobGraph, rules: JobRules = JOB_RULES, forgets: Happening | null = null) {
    this.graph = graph;
    this.#forgets = forgets;
    this.rules = rules;
    for (const [index, { id }] of graph.jobs.entries())
      this.nodes.set(id, { id, buildId: "build", index, readyAt: null, gate: null, stopCause: null, end: null });
    this.#settleAfter("plan");
  }

  /** What is left to do, at this time. */
  pending(now = this.now): Order[] {
    const { graph, build, nodes, rules } = this;
    const inQueue = (jobId: string) => {
      const queued = this.queue.get(jobId);
      return queued ? { status: queued.status, startedAt: null, retries: queued.retries } : null;
    };
    return settle({ graph, build, nodes, inQueue, outputs: (jobId) => this.outputs.get(jobId) ?? {}, now, rules });
  }

  #settleAfter(happening: Happening): void {
    if (happening !== this.#forgets) for (const order of this.pending()) this.#apply(order);
  }

  #patch(jobId: string, patch: Partial<JobNode>): void {
    this.nodes.set(jobId, { ...this.nodes.get(jobId)!, ...patch });
  }

  #end(jobId: string, status: JobEndStatus, words: Partial<JobNode["end"]> = {}): void {
    const none = { cause: null, exitCode: null, reason: null, message: null, startedAt: null, agentId: null };
    this.queue.delete(jobId);
    this.#patch(jobId, { end: { ...none, attempt: 1, fence: 1, ...words, status, finishedAt: this.now } });
  }

  #apply(order: Order): void {
    if (order.kind === "queue") {
      this.#patch(order.jobId, { readyAt: this.now });
      this.queue.set(order.jobId, { status: "queued", stop: null, retries: 0 });
    } else if (order.kind === "ask")
      this.#patch(order.jobId, { gate: { since: this.now, until: order.until, decision: null } });
    else if (order.kind === "end") this.#end(order.jobId, order.status, order);
    else if (order.kind === "withdraw") this.#end(order.jobId, "canceled", order);
    else if (order.kind === "stop") {
      this.#patch(order.jobId, { stopCause: order.cause });
      this.queue.set(order.jobId, { ...this.queue.get(order.jobId)!, status: "canceling", stop: order });
    } else if (order.kind === "build") this.build = { ...this.build, status: order.status };
    else if (order.kind === "place")
      this.build = { ...this.build, several: { ...this.build.several, holdsPlace: order.holdsPlace } };
    else {
      this.end = order;
      this.build = { ...this.build, status: order.status };
    }
  }

  lease(jobId: string, status: "assigned" | "running" = "running"): void {
    this.queue.set(jobId, { ...this.queue.get(jobId)!, status, stop: null });
    this.#settleAfter("lease");
  }

  /** The lease is over without a result, and an attempt is left. */
  lose(jobId: string): void {
    const { stop, retries } = this.queue.get(jobId)!;
    if (stop) this.finish(jobId, "canceled");
    else {
      this.queue.set(jobId, { status: "queued", stop: null, retries });
      this.#settleAfter("loss");
    }
  }

  /** What the agent reports. A job that had to stop is canceled whatever it says; one that failed may have another try. */
  finish(jobId: string, status: "succeeded" | "failed" | "canceled", exitCode: number | null = null): void {
    const { stop = null, retries = 0 } = this.queue.get(jobId) ?? {};
    const { retry = 0 } = this.graph.jobs.find(({ id }) => id === jobId)!;
    if (!stop && status === "failed" && retries < retry)
      this.queue.set(jobId, { status: "queued", stop: null, retries: retries + 1 });
    else if (stop) this.#end(jobId, "canceled", { reason: stop.reason, cause: stop.cause, exitCode });
    else this.#end(jobId, status, { exitCode, retries });
    this.#settleAfter("end");
  }

  cancel(): void {
    if (isEnded(this.build.status)) return;
    const { several } = this.build;
    const cancel = several.cancel
      ? { ...several.cancel, until: this.now }
      : { at: this.now, until: this.now + 5 * 60 * 1000 };
    this.build = { ...this.build, several: { ...several, cancel } };
    this.#settleAfter("cancel");
  }

  cancelJob(jobId: string, cause: JobCause = { kind: "canceled", job: null, text: null }): void {
    this.canceledAlone.add(jobId);
    this.#patch(jobId, { stopCause: cause });
    this.#settleAfter("cancel of a job");
  }

  decide(jobId: string, approved: boolean, comment: string | null = null): void {
    const { gate } = this.nodes.get(jobId)!;
    const decision = { approved, at: this.now, actor: "token:1", name: "Ada", role: "admin" as const, comment };
    this.#patch(jobId, { gate: { ...gate!, decision } });
    this.#settleAfter("decision");
  }

  wait(ms: number): void {
    this.now += ms;
    this.#settleAfter("deadline");
  }

  /** A waiting job of which a person is asked is a `gate`. */
  statusOf(jobId: string): string {
    const { end, gate } = this.nodes.get(jobId)!;
    return end?.status ?? this.queue.get(jobId)?.status ?? (gate ? "gate" : "waiting");
  }

  statuses(): Record<string, string> {
    return Object.fromEntries(this.graph.jobs.map(({ id }) => [id, this.statusOf(id)]));
  }

  get status(): BuildStatus {
    return this.build.status;
  }
}
