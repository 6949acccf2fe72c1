import { type HostReport, toldState } from "../../src/githosts/core/host-report.ts";
import type { Result } from "../../src/queue/commands/commands.ts";
import { mayCarryOut } from "../../src/queue/commands/delete.ts";
import type { Command, InputOf, OutputOf } from "../../src/queue/commands/step.ts";
import type { Channel } from "../../src/queue/state/facts.ts";
import { toHostReport } from "../../src/queue/state/host-state.ts";
import { type Heard, nothingDelivered } from "../../src/queue/state/outbox.ts";
import type { Batch, SimDatabase } from "./database.ts";
import type { Fault } from "./faults.ts";
import type { SimGitHosts } from "./git-hosts.ts";
import type { SimPool } from "./pool.ts";
import type { Random } from "./random.ts";
import { isEnded } from "./specification.ts";
import { must } from "./violation.ts";

/** A write to D1 in progress when its build was deleted arrives within these milliseconds. */
const LATE_WRITE_MS = 60_000;

interface Surroundings {
  readonly pool: SimPool;
  readonly database: SimDatabase;
  readonly gitHosts: SimGitHosts;
  readonly random: Random;
  readonly now: number;
  readonly elapsed: number;
  readonly isHealing: boolean;
  readonly delayedMessages: (() => void)[];
  awayAfterRestore: number;
  injectFault(fault: Fault, probability: number, about?: string): boolean;
  call<C extends Command>(command: C, input: InputOf<C>): Result<OutputOf<C>>;
  evict(): void;
}

/** The object's work between its decisions: it compares itself with D1, and updates D1, the archive, logs and hosts. */
export class SimDeliveries {
  /** Leases with closed logs, each as its job and its fence. */
  readonly closedLogs = new Set<string>();
  readonly #simulator: Surroundings;
  #flushing: Batch | null = null;
  #telling: HostReport[] | null = null;

  constructor(simulator: Surroundings) {
    this.#simulator = simulator;
  }

  /** Makes one attempt of each kind that is due. */
  deliverDue(): void {
    const { pool, now } = this.#simulator;
    const isDue = (channel: Channel): boolean => (pool.state.outbox[channel].at ?? Number.POSITIVE_INFINITY) <= now;
    if (isDue("lists")) this.flush();
    if (isDue("logs")) this.#closeLogs();
    if (isDue("deletions")) this.#carryOutDeletions();
    if (isDue("hosts")) this.tellHosts();
  }

  /** The object was evicted: its writes in progress may or may not arrive. */
  forget(): void {
    this.#flushing = null;
    this.#telling = null;
  }

  /** The pool updates the objects of git hosts in two parts: other calls may happen between reading and sending. */
  tellHosts(): void {
    const { pool, gitHosts, random, isHealing } = this.#simulator;
    if (this.#telling) {
      this.#completeTelling(this.#telling);
      return;
    }
    this.compare();
    if (pool.state.unchecked !== null) {
      this.#simulator.call("recordDelivery", { channel: "hosts", ...nothingDelivered(true) });
      return;
    }
    const reports = [...pool.state.outbox.hosts.due.keys()].flatMap((id) => this.#reportOf(id) ?? []);
    this.#telling = reports;
    if (this.#simulator.injectFault("git host report late", 0.15))
      this.#simulator.delayedMessages.push(() => gitHosts.report(reports));
    if (isHealing || random.chance(0.7)) this.#completeTelling(reports);
  }

  #reportOf(buildId: string): HostReport | null {
    const { storage } = this.#simulator.pool;
    const build = storage.rows.builds.get(buildId);
    return (build && toHostReport(build, [])) ?? null;
  }

  /** Builds with nothing more to report to a git host: D1 was believed, and does not know their commit. */
  #untellable(): string[] {
    return [...this.#simulator.pool.state.outbox.hosts.due.keys()].filter((id) => this.#reportOf(id) === null);
  }

  #completeTelling(reports: HostReport[]): void {
    this.#telling = null;
    const isAway = this.#simulator.injectFault("git host unavailable", 0.15, "recordDelivery");
    if (!isAway) this.#simulator.gitHosts.report(reports);
    if (this.#simulator.injectFault("object evicted", 0.02, "before the git host's answer")) {
      this.#simulator.evict();
      return;
    }
    const failed = isAway || this.#simulator.injectFault("git host outcome unknown", 0.1, "recordDelivery");
    const heard: Heard[] = failed
      ? []
      : reports.map(({ number, buildId, state, phase, version }) => {
          // Some hosts also show the progress of a build.
          const hearsPhases = number % 2 === 0;
          return { buildId, state: toldState({ state, phase }, hearsPhases), version };
        });
    const builds = [...heard, ...this.#untellable().map((buildId) => ({ buildId, state: null }))];
    this.#simulator.call("recordDelivery", { channel: "hosts", ...nothingDelivered(failed), builds });
  }

  /** The pool writes its outbox to D1 in two parts: other calls may happen between reading and writing. */
  flush(): void {
    const { database, pool } = this.#simulator;
    if (this.#flushing) {
      this.#completeFlush(this.#flushing);
      return;
    }
    this.compare();
    if (pool.state.unchecked !== null) {
      this.#simulator.call("recordDelivery", { channel: "lists", ...nothingDelivered(true) });
      return;
    }
    const isArchiveAway = this.#simulator.injectFault("archive unavailable", 0.1, "recordDelivery");
    const batch = database.read(pool, isArchiveAway);
    if (batch.builds.length === 0 && batch.audits.length === 0 && !batch.isDue) {
      this.#simulator.call("recordDelivery", { channel: "lists", ...nothingDelivered(isArchiveAway) });
      return;
    }
    this.#flushing = batch;
    if (this.#simulator.injectFault("D1 write late", 0.15)) {
      const { elapsed } = this.#simulator;
      const { restores } = database;
      this.#simulator.delayedMessages.push(() => {
        const isLost = this.#simulator.elapsed > elapsed + LATE_WRITE_MS;
        const builds = batch.builds.filter(({ buildId }) => !isLost || !database.erased.has(buildId));
        if (restores === database.restores) database.write({ ...batch, builds }, pool.storage);
      });
    }
    if (this.#simulator.isHealing || this.#simulator.random.chance(0.5)) this.#completeFlush(batch);
  }

  /** Compares D1 with the pool, unless that was done since the object was loaded. */
  compare(): void {
    const { database, pool, now } = this.#simulator;
    if (pool.state.unchecked === null) return;
    if (this.#simulator.injectFault("D1 unavailable", this.#simulator.awayAfterRestore > 0 ? 1 : 0.4, "compare")) {
      this.#simulator.awayAfterRestore--;
      return;
    }
    const compared = pool.call(now, "compare", { found: database.heard });
    if (!compared.ok || compared.value !== "pool") return;
    const stored = database.stored();
    pool.checker.poolIsReconciled(stored);
    pool.call(now, "reconcile", stored);
  }

  /** An operator reports a restore: D1 and the pool are compared again. */
  compareAgain(): void {
    const { database, pool } = this.#simulator;
    if (pool.state.unchecked === null) this.#simulator.call("compare", { found: database.heard });
    else this.compare();
  }

  /** Upkeep asks the pool about the builds that D1 considers active. Only a restore leaves any. */
  askAboutActive(): void {
    const { database } = this.#simulator;
    const builds = database.stored().builds.filter(({ status }) => !isEnded(status));
    const done = this.#simulator.call("reconcile", {
      heard: null,
      builds,
      numbers: [],
      removedAgents: [],
      revoked: [],
      deleted: [],
    });
    must(16, database.wasRestored || (done.ok && done.value.told === 0), "D1 did not get a build's latest change");
  }

  #completeFlush(batch: Batch): void {
    const { database, pool } = this.#simulator;
    this.#flushing = null;
    const isAway = this.#simulator.injectFault("D1 unavailable", 0.1, "recordDelivery");
    const found = isAway ? null : database.write(batch, pool.storage);
    if (this.#simulator.injectFault("object evicted", 0.02, "before flushed")) {
      this.#simulator.evict();
      return;
    }
    const failed = isAway || this.#simulator.injectFault("D1 outcome unknown", 0.05, "recordDelivery");
    const builds = failed ? [] : batch.builds.map(({ buildId, version }) => ({ buildId, version }));
    const entries = failed ? [] : batch.audits.map(([seq]) => seq);
    const sequence = found === null || failed ? null : { found, written: batch.sequence.written };
    this.#simulator.call("recordDelivery", { channel: "lists", builds, entries, sequence, failed });
  }

  /** The pool removes deleted builds from D1 and the archive, except while it writes others to them. */
  #carryOutDeletions(): void {
    const { pool } = this.#simulator;
    if (this.#flushing) this.#completeFlush(this.#flushing);
    const pending = [...pool.storage.rows.deletions.values()].filter(({ isDone }) => !isDone);
    const told = pending.filter(({ deletion }) => mayCarryOut(pool.state, deletion));
    const done = told.filter(() => !this.#simulator.injectFault("archive unavailable", 0.1, "recordDelivery"));
    for (const { deletion } of done) if (deletion.deleted === "build") this.#erase(deletion.buildId);
    if (this.#simulator.injectFault("object evicted", 0.02, "before deletions were recorded")) {
      this.#simulator.evict();
      return;
    }
    const failed = done.length < pending.length;
    const builds = done.map(({ deletion }) => ({ buildId: deletion.buildId, version: deletion.at }));
    this.#simulator.call("recordDelivery", { channel: "deletions", ...nothingDelivered(failed), builds });
  }

  /** A deleted log accepts no more bytes, like a closed one. */
  #erase(buildId: string): void {
    const { database, pool } = this.#simulator;
    database.erase(buildId);
    for (const lease of pool.checker.observed.leases) if (lease.startsWith(`${buildId} `)) this.closedLogs.add(lease);
  }

  /** The pool closes the logs of ended leases. Some do not answer. */
  #closeLogs(): void {
    const { storage, state } = this.#simulator.pool;
    const closes = [...storage.rows.closes];
    const ended = [...state.outbox.logs.due.keys()];
    const isThere = () => !this.#simulator.injectFault("log unavailable", 0.1);
    const closed = closes.filter(isThere);
    const builds = ended.filter(isThere).map((buildId) => ({ buildId }));
    for (const [, { jobId, fence }] of closed) this.closedLogs.add(`${jobId} ${fence}`);
    for (const { buildId } of builds) this.closedLogs.add(`${buildId} ${storage.lastFence(buildId)}`);
    if (this.#simulator.injectFault("object evicted", 0.02, "before closes were recorded")) {
      this.#simulator.evict();
      return;
    }
    const failed = closed.length < closes.length || builds.length < ended.length;
    const entries = closed.map(([seq]) => seq);
    this.#simulator.call("recordDelivery", { channel: "logs", ...nothingDelivered(failed), builds, entries });
  }
}
