import { dayOf } from "../archive/keys.ts";
import { buildLogName } from "../domain/object-names.ts";
import type { DecisionContext } from "../domain/pool/decision.ts";
import { Closes } from "./agent-pool-closes.ts";
import { Deletions } from "./agent-pool-deletions.ts";
import { HostOutbox } from "./agent-pool-host-outbox.ts";
import { Outbox } from "./agent-pool-outbox.ts";
import type { Machine, Reconciler } from "./agent-pool-reconciler.ts";
import type { PoolStorage } from "./agent-pool-storage.ts";
import type { LogOutboxEntry } from "./agent-pool-tables.ts";
import type { BuildLog } from "./build-log.ts";
import { SingleFlight } from "./single-flight.ts";
import { CALLER_WAIT_MS, within } from "./within.ts";

interface DeliveringMachine extends Machine {
  readonly context: DecisionContext;
  readonly storage: PoolStorage;
}

/**
 * Tells others what the pool decided: the archive and D1 of builds and the audit, logs of closes and deletions, and git
 * hosts of the states of builds.
 */
export class Deliveries {
  readonly #env: Env;
  readonly #machine: DeliveringMachine;
  readonly #reconciler: Reconciler;
  readonly #outbox: Outbox;
  readonly #closes: Closes;
  readonly #deletions: Deletions;
  readonly #hosts: HostOutbox;
  readonly #telling = new SingleFlight(() => this.#tellOnce());
  readonly #closing = new SingleFlight(() => this.#closeOnce());
  readonly #deleting = new SingleFlight(() => this.#deleteOnce());
  readonly #tellingHosts = new SingleFlight(() => this.#tellHostsOnce());

  constructor(env: Env, db: D1Database, machine: DeliveringMachine, reconciler: Reconciler) {
    const { storage } = machine;
    this.#env = env;
    this.#machine = machine;
    this.#reconciler = reconciler;
    this.#outbox = new Outbox(db, env.ARCHIVE, storage);
    this.#hosts = new HostOutbox(env, storage);
    this.#closes = new Closes(storage, (entry) => this.#closeLog(entry));
    this.#deletions = new Deletions(db, env.ARCHIVE, storage, (jobId) => this.#logOf(jobId).remove());
  }

  /** One attempt of each kind that is due by this time (milliseconds since 1970). */
  async deliverDue(by: number): Promise<void> {
    const { flush, closing, deleting, tellingHosts } = this.#machine.state;
    const isDue = ({ at }: { at: number | null }) => at !== null && at <= by;
    await Promise.all([
      isDue(flush) ? this.tell() : null,
      isDue(closing) ? this.closeLogs() : null,
      isDue(deleting) ? this.#deleting.run() : null,
      isDue(tellingHosts) ? this.tellHosts() : null,
    ]);
  }

  /** One whole attempt with everything that waits. */
  async deliverAll(): Promise<void> {
    await Promise.all([this.#telling.present, this.#closing.present, this.#tellingHosts.present]);
    await this.deliverDue(Number.POSITIVE_INFINITY);
  }

  /** Tells the archive and D1 what they have to hear. */
  tell(): Promise<void> {
    return this.#telling.run();
  }

  /** Closes the logs that have to be closed. */
  closeLogs(): Promise<void> {
    return this.#closing.run();
  }

  /** Tells the objects of git hosts what they have to hear. */
  tellHosts(): Promise<void> {
    return this.#tellingHosts.run();
  }

  /** Waits until the build is in D1, but not longer than a second. */
  async waitUntilWritten(buildId: string): Promise<void> {
    const written = async () => {
      await this.#telling.present;
      if (this.#machine.state.dirty.has(buildId)) await this.tell();
    };
    await within(CALLER_WAIT_MS, written());
  }

  /** Waits until the pending deletions are carried out, but not longer than a second. */
  async waitUntilDeleted(): Promise<void> {
    const deleted = async () => {
      await this.#deleting.present;
      if (this.#machine.state.pendingDeletions.size > 0) await this.#deleting.run();
    };
    await within(CALLER_WAIT_MS, deleted());
  }

  /** Waits for the attempts that are under way. */
  async settled(): Promise<void> {
    const flights = [this.#telling, this.#closing, this.#deleting, this.#tellingHosts];
    await Promise.allSettled(flights.map(({ present }) => present));
  }

  async #tellOnce(): Promise<void> {
    await this.#reconciler.compared();
    const { orgId, state, context } = this.#machine;
    this.#machine.step("recordFlush", await this.#outbox.deliver(orgId, state, context));
  }

  /** After the comparison with D1: a pool that was restored would say of an ended build that it waits. */
  async #tellHostsOnce(): Promise<void> {
    const { orgId, state } = this.#machine;
    const isCompared = await this.#reconciler.compared().then(
      () => true,
      () => false,
    );
    const result = isCompared ? await this.#hosts.deliver(orgId, state) : { told: [], failed: true };
    this.#machine.step("recordHosts", result);
  }

  async #closeOnce(): Promise<void> {
    this.#machine.step("recordCloses", await this.#closes.deliver());
  }

  /** After D1 was told: an attempt that is under way may have read a build before it was deleted. */
  async #deleteOnce(): Promise<void> {
    const { orgId, state } = this.#machine;
    await Promise.allSettled([this.#telling.present]);
    if (state.flush.at !== null) await Promise.allSettled([this.tell()]);
    this.#machine.step("recordDeletions", await this.#deletions.deliver(orgId, state));
  }

  async #closeLog({ jobId, fence, endedAt }: LogOutboxEntry): Promise<void> {
    const ended = endedAt === undefined ? null : { day: dayOf(endedAt), orgId: this.#machine.orgId, jobId };
    await this.#logOf(jobId).close({ fence, ended });
  }

  #logOf(jobId: string): DurableObjectStub<BuildLog> {
    const logs = this.#env.BUILD_LOG as DurableObjectNamespace<BuildLog>;
    return logs.getByName(buildLogName(this.#machine.orgId, jobId));
  }
}
