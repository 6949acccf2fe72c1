import type { JobNode } from "../jobs/node.ts";
import { settle } from "../jobs/settle.ts";
import type { Order } from "../jobs/settle-orders.ts";
import {
  activeBuild,
  type Decision,
  type DecisionContext,
  decided,
  hintOf,
  type Push,
  patchBuild,
} from "./decision.ts";
import type { ActiveBuild, BuildFacts, Change, SeveralJobs } from "./facts.ts";
import { buildFactsOf, jobFactsOf } from "./job-of-build.ts";
import { endBuild, endCanceled } from "./lease.ts";
import { makeRoom } from "./make-room.ts";
import type { BuildGraph, PoolState } from "./state.ts";

/** Carries out all that follows from what became of the jobs of a build of several. */
export const settleBuild = (state: PoolState, buildId: string, context: DecisionContext): Decision<null> => {
  const known = state.graphs.get(buildId);
  const build = state.builds.get(buildId);
  const job = state.jobs.get(buildId);
  if (!known || !build?.several || !job) return decided(null);
  const { several, status, supersededBy = null, message = null } = build;
  const orders = settle({
    ...{ graph: known.graph, nodes: known.nodes, build: { status, several, supersededBy, message } },
    inQueue: (jobId) => inQueue(state, jobId),
    outputs: (jobId) => state.records.outputs(jobId),
    ...{ now: context.now, rules: context.rules },
  });
  const settling = new Settling(state, known, { build, job, node: null }, context);
  for (const order of orders) settling.carryOut(order);
  settling.fillQueue();
  if (orders.length === 0) settling.noteGates();
  return decided(null, settling.changes, settling.pushes);
};

/** The gates that a build waits for; null where it waits for more than people. */
const waitsAtOf = ({ builds }: PoolState, { graph, nodes }: BuildGraph): SeveralJobs["waitsAt"] => {
  const open = graph.jobs.filter(({ id }) => nodes.get(id)?.end === null);
  if (open.some(({ id }) => builds.has(id))) return null;
  const asking = open.filter(({ id }) => nodes.get(id)?.gate);
  if (asking.length === 0) return null;
  const isPending = asking.some(({ gate }) => gate?.hostStatus === "pending");
  const jobs = [...new Set(asking.map(({ definition }) => definition))];
  const asks = jobs.map((name) => ({ name, index: graph.jobs.findIndex(({ definition }) => definition === name) }));
  return { jobs, hostStatus: isPending ? "pending" : "success", asks };
};

type InQueue = ReturnType<Parameters<typeof settle>[0]["inQueue"]>;

const inQueue = ({ builds, jobs }: PoolState, jobId: string): InQueue => {
  const build = builds.get(jobId);
  const status = build?.status as NonNullable<InQueue>["status"];
  return build ? { status, startedAt: build.startedAt, retries: jobs.get(jobId)?.retries } : null;
};

type OrderOf<K extends Order["kind"]> = Extract<Order, { kind: K }>;

/** Translates orders into changes. What one order changed of the build counts for the next. */
class Settling {
  readonly changes: Change[] = [];
  readonly pushes: Push[] = [];
  readonly #state: PoolState;
  readonly #known: BuildGraph;
  readonly #context: DecisionContext;
  /** Jobs as earlier orders left them. */
  readonly #nodes = new Map<string, JobNode>();
  /** Jobs that got ready: a later order may end one before the queue has it. */
  readonly #ready = new Set<string>();
  #root: ActiveBuild;

  constructor(state: PoolState, known: BuildGraph, root: ActiveBuild, context: DecisionContext) {
    this.#state = state;
    this.#known = known;
    this.#root = root;
    this.#context = context;
  }

  carryOut(order: Order): void {
    switch (order.kind) {
      case "queue":
        this.#queue(this.#nodeOf(order));
        return;
      case "ask":
        this.#ask(this.#nodeOf(order), order.until);
        return;
      case "end":
        this.#end(this.#nodeOf(order), order);
        return;
      case "withdraw":
      case "stop":
        this.#stop(this.#nodeOf(order), order);
        return;
      case "build":
        this.#begin(order.status);
        return;
      case "place":
        this.#patch({ several: { ...this.#root.build.several!, holdsPlace: order.holdsPlace } });
        return;
      case "end-build":
        this.#endBuild(order);
        return;
    }
  }

  /** Puts those that got ready, and are still to run, into the queue, and ends what is in their way. */
  fillQueue(): void {
    const { now, rules } = this.#context;
    const { build, job } = this.#root;
    const canceled = new Set([build.id]);
    let { seq } = this.#state;
    for (const jobId of this.#ready) {
      const graphJob = this.#known.graph.jobs[this.#nodeOf({ jobId }).index]!;
      const made = makeRoom(this.#state, build, graphJob, canceled, this.#context);
      this.changes.push(
        { kind: "build", build: buildFactsOf(build, graphJob, ++seq, now) },
        { kind: "job", job: rules.confined(jobFactsOf(build, job, graphJob, this.#known.graph), build) },
        ...made.changes,
      );
      this.pushes.push(...made.pushes);
    }
  }

  /** What a git host hears while only people are waited for. */
  noteGates(): void {
    const { several } = this.#root.build;
    const waitsAt = waitsAtOf(this.#state, this.#known);
    if (JSON.stringify(waitsAt) !== JSON.stringify(several!.waitsAt ?? null))
      this.#patch({ several: { ...several!, waitsAt } });
  }

  #nodeOf({ jobId }: { jobId: string }): JobNode {
    return this.#nodes.get(jobId) ?? this.#known.nodes.get(jobId)!;
  }

  #setNode(node: JobNode): void {
    this.#nodes.set(node.id, node);
    this.changes.push({ kind: "node", node });
  }

  #patch(patch: Partial<BuildFacts>): void {
    const changes = patchBuild(this.#root.build, patch, this.#context);
    for (const change of changes) if (change.kind === "build") this.#root = { ...this.#root, build: change.build };
    this.changes.push(...changes);
  }

  #begin(status: OrderOf<"build">["status"]): void {
    const { startedAt } = this.#root.build;
    this.#patch({ status, startedAt: status === "running" ? (startedAt ?? this.#context.now) : startedAt });
  }

  #queue(node: JobNode): void {
    this.#ready.add(node.id);
    this.#setNode({ ...node, readyAt: this.#context.now });
  }

  #ask(node: JobNode, until: number): void {
    const gate = { since: this.#context.now, until, decision: null };
    this.#setNode({ ...node, gate });
  }

  #end(node: JobNode, { status, cause, reason, message }: OrderOf<"end">): void {
    const nothing = { exitCode: null, startedAt: null, agentId: null, attempt: 0, fence: 0 };
    const end = { ...nothing, status, cause, reason, message, finishedAt: this.#context.now };
    this.#setNode({ ...node, end });
  }

  /** Ends a queued job, and has the agent of a leased one stop it. */
  #stop(node: JobNode, { jobId, reason, cause }: OrderOf<"stop" | "withdraw">): void {
    const stopped = { ...node, stopCause: cause };
    const held = activeBuild(this.#state, jobId);
    if (!held) {
      this.#ready.delete(jobId);
      this.#end(node, { kind: "end", jobId, status: "canceled", cause, reason, message: null });
      return;
    }
    const build: BuildFacts = { ...held.build, reason };
    const { job } = held;
    const { lease } = job;
    if (!lease) {
      this.changes.push(...endCanceled({ build, job, node: stopped }, this.#context));
      return;
    }
    const stop = lease.stop ?? { reason, at: this.#context.now };
    this.changes.push(
      { kind: "node", node: stopped },
      ...patchBuild(build, { status: "canceling" }, this.#context),
      { kind: "job", job: { ...job, lease: { ...lease, stop } } },
      { kind: "stop-told", buildId: jobId, at: this.#context.now },
    );
    this.pushes.push({ agentId: lease.agentId, hint: hintOf("cancel", build) });
  }

  #endBuild({ status, exitCode, reason, message }: OrderOf<"end-build">): void {
    const said = this.#root.build.reason ?? reason;
    this.changes.push(...endBuild(this.#root, { status, exitCode, reason: said }, message, this.#context));
  }
}
