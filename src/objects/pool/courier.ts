import { log } from "../../log.ts";
import { CHANNELS, type Channel } from "../../queue/state/facts.ts";
import { type Delivered, nothingDelivered } from "../../queue/state/outbox.ts";
import { CALLER_WAIT_MS, SingleFlight, within } from "../attempt.ts";
import { type CourierMachine, carryOutDeletions, closeLogs, FailureCounts, tellHosts } from "./channels.ts";
import { Lists } from "./lists.ts";
import type { Reconciler } from "./reconciler.ts";

/**
 * Notifies others of the pool's decisions. Each kind of receiver has its own channel, so that an unavailable receiver
 * delays no other channel. The state's `outbox` lists what is due, `deliver` makes one attempt, and the command
 * `recordDelivery` records it.
 */
export class Courier {
  readonly #machine: CourierMachine;
  readonly #flights: Record<Channel, SingleFlight>;

  constructor(env: Env, db: D1Database, machine: CourierMachine, reconciler: Reconciler) {
    this.#machine = machine;
    const ways = () => ({ env, db, machine, failures: new FailureCounts() });
    const lists = new Lists(ways());
    const [toLogs, toHosts, toAll] = [ways(), ways(), ways()];
    // A restored pool would otherwise report that an ended build waits.
    const afterComparing = (deliver: () => Promise<Delivered>) => () =>
      reconciler.compared().then(deliver, (error: unknown) => {
        log.error("pool.comparison_failed", { orgId: machine.orgId, error });
        return nothingDelivered(true);
      });
    this.#flights = {
      lists: this.#flight(
        "lists",
        afterComparing(() => lists.deliver()),
      ),
      logs: this.#flight("logs", () => closeLogs(toLogs)),
      hosts: this.#flight(
        "hosts",
        afterComparing(() => tellHosts(toHosts)),
      ),
      deletions: this.#flight("deletions", async () => {
        // A running attempt may have read a build before somebody deleted it.
        await Promise.allSettled([this.#flights.lists.present]);
        if (machine.state.outbox.lists.at !== null) await Promise.allSettled([this.tell("lists")]);
        return carryOutDeletions(toAll);
      }),
    };
  }

  #flight(channel: Channel, deliver: () => Promise<Delivered>): SingleFlight {
    return new SingleFlight(async () => {
      this.#machine.step("recordDelivery", { channel, ...(await deliver()) });
    });
  }

  /** Makes one attempt on a channel. */
  tell(channel: Channel): Promise<void> {
    return this.#flights[channel].run();
  }

  /** Makes one attempt on each channel where one is due by this time (milliseconds since 1970). */
  async deliverDue(by: number): Promise<void> {
    const { outbox } = this.#machine.state;
    const due = CHANNELS.filter((channel) => (outbox[channel].at ?? Number.POSITIVE_INFINITY) <= by);
    await Promise.all(due.map((channel) => this.tell(channel)));
  }

  /** Makes one whole attempt with all waiting items. */
  async deliverAll(): Promise<void> {
    const { lists, logs, hosts } = this.#flights;
    await Promise.all([lists, logs, hosts].map(({ present }) => present));
    await this.deliverDue(Number.MAX_SAFE_INTEGER);
  }

  /** Waits for at most a second until the build is no longer due on the channel. */
  async waitUntilTold(channel: Channel, buildId: string): Promise<void> {
    const tellIfDue = async () => {
      await this.#flights[channel].present;
      if (this.#machine.state.outbox[channel].due.has(buildId)) await this.tell(channel);
    };
    await within(CALLER_WAIT_MS, tellIfDue());
  }

  /** Waits for the attempts in progress. */
  async settled(): Promise<void> {
    await Promise.allSettled(CHANNELS.map((channel) => this.#flights[channel].present));
  }
}
