import { log } from "../../log.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import type { Command } from "../../queue/commands/step.ts";
import type { Channel } from "../../queue/state/facts.ts";
import type { Courier } from "./courier.ts";
import type { Machine } from "./reconciler.ts";

/**
 * Milliseconds until a delivery that nobody waits for. Deliveries that follow each other closely then share one
 * attempt.
 */
const SOON_MS = 200;
/**
 * Milliseconds between two deliveries of builds to D1. Builds that follow each other closely then share one attempt.
 */
const LISTS_MS = SECOND_MS;

/**
 * Promptly reports builds and leases that began or ended. The alarm would report them later. It is usually not needed.
 */
export class PromptDeliveries {
  readonly #ctx: DurableObjectState;
  readonly #machine: Machine;
  readonly #courier: Courier;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #listsToldAt = 0;

  constructor(ctx: DurableObjectState, machine: Machine, courier: Courier) {
    this.#ctx = ctx;
    this.#machine = machine;
    this.#courier = courier;
  }

  /**
   * Delivers everything that this command made due. `isNews` says that D1 must get builds. Items that a load found wait
   * for the alarm.
   */
  after(command: Command, isNews: boolean): void {
    if (command === "arrive") {
      this.#tellSoon(SOON_MS);
      return;
    }
    this.#tellAtOnce("hosts");
    this.#tellAtOnce("logs");
    if (!isNews) return;
    const wait = this.#listsToldAt + LISTS_MS - Date.now();
    if (wait > 0) this.#tellSoon(wait);
    else this.#tellLists();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  #tellSoon(milliseconds: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#tellLists();
      this.#tellAtOnce("hosts");
    }, milliseconds);
  }

  #tellLists(): void {
    this.#listsToldAt = Date.now();
    this.#tellAtOnce("lists");
  }

  /** Delivers at once, unless the last attempt failed. After a failure, the next attempt has its own time. */
  #tellAtOnce(channel: Channel): void {
    const { at, failures } = this.#machine.state.outbox[channel];
    if (at !== null && failures === 0) this.#ctx.waitUntil(this.#tell(channel));
  }

  async #tell(channel: Channel): Promise<void> {
    const { orgId } = this.#machine;
    await this.#courier.tell(channel).catch((error) => log.error("pool.channel_failed", { orgId, channel, error }));
  }
}
