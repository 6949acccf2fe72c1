import { createInterface } from "node:readline/promises";
import type { GraphJob, JobGraph } from "../../pipeline/graph/graph.ts";
import type { GateDecision, JobCause, JobEnd } from "../../pipeline/graph/job-end.ts";
import type { Needs } from "../../protocol/jobs.ts";
import type { Order } from "../../queue/jobs/in-progress.ts";
import { readNeeds } from "../../queue/jobs/needs.ts";
import { CLEAN_UP_MS, JOB_RULES } from "../../queue/jobs/rules.ts";
import { settle } from "../../queue/jobs/settle.ts";
import type { JobFacts } from "../../queue/state/facts.ts";
import { EXIT } from "./exit-codes.ts";

/** Writes a line from the run itself, between its steps' output. */
export const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const CAUSES: Record<JobCause["kind"], (cause: JobCause) => string> = {
  condition: ({ text }) => `its condition is false: ${text}`,
  "need-skipped": ({ job }) => `${job} was skipped`,
  "need-failed": ({ job }) => `${job} failed`,
  "need-canceled": ({ job }) => `${job} was canceled`,
  "fail-fast": ({ job }) => `${job} failed, and fail-fast stopped the other jobs`,
  canceled: () => "the run was stopped",
  gate: () => "its gate was not approved",
};

/** Describes a job's end, with the reason if it did not run: `deploy dropped: test failed`. */
export const endInWords = (
  key: string,
  { status, cause, message }: Pick<JobEnd, "status" | "cause" | "message">,
): string => {
  const why = cause ? CAUSES[cause.kind](cause) : message;
  return `${key} ${status}${why === null || status === "succeeded" ? "" : `: ${why}`}`;
};

const decided = (approved: boolean, comment: string | null): GateDecision => ({
  approved,
  at: Date.now(),
  actor: "local",
  name: "local",
  role: "admin",
  comment,
});

/** Asks on the terminal whether to open a job's gate. Without a terminal the gate stays closed. */
const askGate = async (
  { key, gate }: GraphJob,
  { approve, signal }: Pick<LocalBuildOptions, "approve" | "signal">,
): Promise<GateDecision> => {
  const question = `${key} waits for approval${gate?.message ? `: ${gate.message}` : ""}`;
  if (approve || signal.aborted) return decided(approve && !signal.aborted, null);
  if (!process.stdin.isTTY) {
    say(`${question}\nNo terminal to ask on: use --approve to approve every gate`);
    return decided(false, "not asked");
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    return decided(/^y(?:es)?$/i.test(answer.trim()), null);
  } catch {
    return decided(false, null);
  } finally {
    terminal.close();
  }
};

/** The end of one job's steps. */
export type JobResult = Pick<JobEnd, "status" | "exitCode" | "reason" | "message"> & {
  outputs: Record<string, string>;
};

interface LocalBuildOptions {
  graph: JobGraph;
  /** Opens every gate without asking. */
  approve: boolean;
  run: (job: GraphJob, needs: Needs) => Promise<JobResult>;
  /** The person aborts this to stop the run. Only cleanup still runs afterwards. */
  signal: AbortSignal;
  /** The person aborts this to end the cleanup, too. */
  abandon: AbortSignal;
}

type EndOrder = Extract<Order, { kind: "end" | "withdraw" }>;

/** The service's record of a job that no agent has received yet. */
const NEW_JOB = {
  buildId: "",
  seq: 0,
  status: "waiting",
  queuedAt: null,
  startedAt: null,
  maxAttempts: 1,
  attempt: 0,
  unstarted: 0,
  releasedBy: [],
  notBefore: 0,
  lease: null,
  fence: 0,
  agentId: null,
  result: null,
} satisfies Partial<JobFacts>;

const queueFacts = ({ id, requires, timeoutSeconds }: GraphJob) => ({ id, requires, timeoutSeconds });

/** Runs the jobs of a file in this folder, one after another, by the service's rules. */
export class LocalBuild {
  readonly #options: LocalBuildOptions;
  readonly #jobs: Map<string, JobFacts>;
  readonly #outputs = new Map<string, Record<string, string>>();
  readonly #queue: GraphJob[] = [];
  #cancel: { at: number; until: number } | null = null;

  constructor(options: LocalBuildOptions) {
    this.#options = options;
    this.#jobs = new Map(options.graph.jobs.map((job, index) => [job.id, { ...NEW_JOB, ...queueFacts(job), index }]));
  }

  /** Runs the jobs. @returns the exit code of the first failed job */
  async run(): Promise<number> {
    for (;;) {
      for (const order of this.#settle()) {
        if (order.kind === "end-build") return this.#exitCode(order);
        await this.#carryOut(order);
      }
      const job = this.#queue.shift();
      if (job) await this.#runJob(job);
    }
  }

  #settle(): Order[] {
    const { graph, signal, abandon } = this.#options;
    const now = Date.now();
    if (signal.aborted) this.#cancel ??= { at: now, until: now + CLEAN_UP_MS };
    if (this.#cancel && abandon.aborted) this.#cancel = { ...this.#cancel, until: now };
    return settle({
      graph,
      build: {
        status: this.#cancel ? "canceling" : "running",
        startedAt: null,
        until: null,
        holdsPlace: true,
        cancel: this.#cancel,
      },
      jobs: this.#jobs,
      outputs: (id) => this.#outputs.get(id) ?? {},
      now,
      rules: JOB_RULES,
    });
  }

  async #carryOut(order: Order): Promise<void> {
    const { graph, approve, signal } = this.#options;
    if (order.kind === "end" || order.kind === "withdraw") return this.#endWithoutSteps(order);
    if (order.kind !== "queue" && order.kind !== "ask") return;
    const job = graph.jobs.find(({ id }) => id === order.jobId);
    if (job && order.kind === "queue") {
      this.#queue.push(job);
      this.#change(job.id, { status: "queued" });
    }
    if (!job || order.kind !== "ask") return;
    const decision = await askGate(job, { approve, signal });
    this.#change(job.id, { gate: { since: decision.at, until: order.until, decision } });
  }

  #endWithoutSteps(order: EndOrder): void {
    const end = { status: "canceled", message: null, ...order } as const;
    const job = this.#options.graph.jobs.find(({ id }) => id === order.jobId);
    this.#queue.splice(0, this.#queue.length, ...this.#queue.filter(({ id }) => id !== order.jobId));
    this.#end(order.jobId, { status: end.status, cause: end.cause, reason: end.reason, message: end.message });
    say(endInWords(job?.key ?? "", end));
  }

  async #runJob(job: GraphJob): Promise<void> {
    const { graph, run } = this.#options;
    const needs = readNeeds(graph, this.#jobs, job.id, (id) => this.#outputs.get(id) ?? {});
    const { outputs, ...result } = await run(job, needs);
    this.#outputs.set(job.id, outputs);
    this.#end(job.id, { ...result, cause: null });
    say(endInWords(job.key, { ...result, cause: null }));
  }

  #end(id: string, end: Partial<JobEnd> & Pick<JobEnd, "status" | "cause" | "reason" | "message">): void {
    const ran = { exitCode: null, startedAt: null, finishedAt: Date.now(), agentId: null, attempt: 1, fence: 0 };
    this.#change(id, { status: end.status, end: { ...ran, ...end } });
  }

  #change(id: string, change: Partial<JobFacts>): void {
    const job = this.#jobs.get(id);
    if (job) this.#jobs.set(id, { ...job, ...change });
  }

  #exitCode({ status, exitCode }: Extract<Order, { kind: "end-build" }>): number {
    if (status === "succeeded") return EXIT.done;
    return status === "canceled" ? EXIT.interrupted : (exitCode ?? EXIT.failed);
  }
}
