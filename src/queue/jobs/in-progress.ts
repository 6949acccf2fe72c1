import { groupBy } from "../../domain/group-by.ts";
import { needsContext } from "../../pipeline/expression/scope.ts";
import { Conditions, ConditionWork, type NeedsToRead } from "../../pipeline/graph/condition.ts";
import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { JobCause, JobEndStatus, StopReason } from "../../pipeline/graph/job-end.ts";
import type { BuildReason } from "../../protocol/build.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import type { BuildFacts, JobFacts } from "../state/facts.ts";
import { needsFrom } from "./needs.ts";
import { firstEnded, judgeJob, type Verdict } from "./outcome.ts";
import type { BuildCancel, BuildView, EndOfJob, JobRules, JobView, Need } from "./rules.ts";

/** An active build's state, as derived from its jobs. */
export interface BuildProgress extends Pick<BuildFacts, "status" | "startedAt" | "holdsPlace"> {
  message: string | null;
}

export type Order =
  /** Puts the job into the queue, because its needs have ended, its condition holds, and its gate is open. */
  | { kind: "queue"; jobId: string }
  /** Makes the job's gate wait for a decision. */
  | { kind: "ask"; jobId: string; until: number }
  /** Ends a job that is not in the queue. */
  | {
      kind: "end";
      jobId: string;
      status: JobEndStatus;
      cause: JobCause | null;
      reason: BuildReason | null;
      message: string | null;
    }
  /** Cancels a queued job at once. */
  | { kind: "withdraw"; jobId: string; reason: StopReason; cause: JobCause }
  /** Requires the agent of a leased job to stop it. */
  | { kind: "stop"; jobId: string; reason: StopReason; cause: JobCause }
  /** Updates the build while some jobs have not ended. */
  | ({ kind: "build" } & BuildProgress)
  | {
      kind: "end-build";
      status: EndedStatus;
      exitCode: number | null;
      reason: BuildReason | null;
      message: string | null;
    };

export type JobOrder = Extract<Order, { jobId: string }>;

/** The end of a job whose row was lost. The job counts as failed. It may have run, so it must not run again. */
const LOST: EndOfJob = {
  status: "failed",
  cause: null,
  exitCode: null,
  reason: "agent-error",
  message: "The stored data of this job is damaged.",
  startedAt: null,
  finishedAt: 0,
};

const toView = (job: GraphJob, facts: JobFacts | undefined): JobView => {
  if (!facts)
    return {
      job,
      status: LOST.status,
      startedAt: null,
      message: null,
      gate: null,
      stopCause: null,
      retries: 0,
      end: LOST,
    };
  const { status, startedAt, message = null, gate = null, stopCause = null, end = null } = facts;
  const isAdopted = end?.adopted !== undefined;
  const retries = isAdopted ? 0 : (end?.retries ?? facts.retries ?? 0);
  return { job, status, startedAt, message, gate, stopCause, retries, end: end && { ...end, isAdopted } };
};

/** Returns all jobs of a build, in graph order. */
const toViews = (graph: JobGraph, jobs: ReadonlyMap<string, JobFacts>): JobView[] =>
  graph.jobs.map((job) => toView(job, jobs.get(job.id)));

/** All times are milliseconds since 1970. */
export interface SettleInput {
  graph: JobGraph;
  build: BuildView;
  jobs: ReadonlyMap<string, JobFacts>;
  /** Returns a job's outputs. The code calls it only if a condition needs them. */
  outputs(jobId: string): Record<string, string>;
  now: number;
  rules: JobRules;
}

/** A build's jobs while the pool settles them: their state when they were read, and the orders since then. */
export class BuildInProgress {
  readonly input: SettleInput;
  readonly cancel: BuildCancel | null;
  readonly views: readonly JobView[];
  readonly #byDefinition: Map<string, JobView[]>;
  readonly #byId: Map<string, JobView>;
  /* The needs of each job definition. They are the same for all combinations of a job. */
  readonly #needs = new Map<string, readonly Need[]>();
  readonly #read = new Map<string, NeedsToRead>();
  readonly #verdicts = new Map<string, Verdict>();
  readonly #work = new ConditionWork();
  readonly #conditions: Conditions;
  /** Jobs whose failure may end other jobs; null until the next search. */
  #failed: JobView[] | null = null;

  constructor(input: SettleInput, cancel: BuildCancel | null) {
    this.input = input;
    this.cancel = cancel;
    this.#conditions = new Conditions(input.graph);
    this.views = toViews(input.graph, input.jobs);
    this.#byDefinition = groupBy(this.views, ({ job }) => job.definition);
    this.#byId = new Map(this.views.map((view) => [view.job.id, view]));
  }

  /** Returns all combinations of the job's needs. They are the same for all combinations of the job itself. */
  #collectNeeds(job: GraphJob): readonly Need[] {
    const cached = this.#needs.get(job.definition);
    if (cached) return cached;
    const needs = job.needs.flatMap(({ definition, isOptional }) =>
      (this.#byDefinition.get(definition) ?? []).map((view) => ({ view, isOptional })),
    );
    this.#needs.set(job.definition, needs);
    return needs;
  }

  isReady(job: GraphJob): boolean {
    return this.input.rules.isReady(this.#collectNeeds(job), job);
  }

  /** Judges a job by its condition and its ended needs. */
  judge(job: GraphJob): Verdict {
    const cached = this.#verdicts.get(job.definition);
    if (cached) return cached;
    const { graph, rules } = this.input;
    const verdict = judgeJob(job, this.#collectNeeds(job), {
      facts: graph.facts,
      conditions: this.#conditions,
      isCanceled: this.cancel !== null,
      needs: () => this.#needsToRead(job),
      work: this.#work,
      rules,
    });
    if (!this.#conditions.findTraits(job.condition).usesMatrix) this.#verdicts.set(job.definition, verdict);
    return verdict;
  }

  #needsToRead(job: GraphJob): NeedsToRead {
    const cached = this.#read.get(job.definition);
    if (cached) return cached;
    const { graph, outputs } = this.input;
    const needs = needsFrom(graph, job.id, (id) => this.#byId.get(id)?.end?.status ?? null, outputs);
    const read = { context: needsContext(needs), characters: JSON.stringify(needs).length };
    this.#read.set(job.definition, read);
    return read;
  }

  #cleansUp({ condition }: GraphJob): boolean {
    return this.#conditions.findTraits(condition).cleansUp;
  }

  /** Reports whether the job may run after a cancel. Its condition must still hold once its needs have ended. */
  isSpared(job: GraphJob): boolean {
    return this.#cleansUp(job) && (!this.isReady(job) || this.judge(job).kind === "run");
  }

  /** Returns the first failed job that requires this one to end, or null. */
  findFault(view: JobView): JobView | null {
    const { rules, graph } = this.input;
    this.#failed ??= this.views.filter((one) => rules.tripsFailFast(one));
    const reaches = (failed: JobView) =>
      failed !== view && rules.isInCircle(view, failed, graph.failFast, this.#cleansUp(view.job));
    return firstEnded(this.#failed.filter(reaches)) ?? null;
  }

  apply(view: JobView, order: JobOrder): void {
    const end = (one: Pick<EndOfJob, "status" | "cause" | "reason" | "message">): void => {
      view.end = { ...one, exitCode: null, startedAt: null, finishedAt: this.input.now };
      view.status = one.status;
      this.#failed = null;
    };
    if (order.kind === "end") end(order);
    else if (order.kind === "withdraw") end({ ...order, status: "canceled", message: null });
    else if (order.kind === "stop") view.status = "canceling";
    else if (order.kind === "queue") view.status = "queued";
    else view.gate = { since: this.input.now, until: order.until, decision: null };
  }
}
