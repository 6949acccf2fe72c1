import { log } from "../../log.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import type { Command } from "../../queue/commands/step.ts";
import type { Channel } from "../../queue/state/facts.ts";
import type { Courier } from "./courier.ts";
import type { Machine } from "./reconciler.ts";

/** Milliseconds until a delivery that nobody waits for: deliveries close together then go out at once. */
const SOON_MS = 200;
/** Milliseconds between two deliveries of builds to D1: builds close together then go out at once. */
const LISTS_MS = SECOND_MS;

/** Reports builds and leases that began or ended. The alarm would do so later: this class usually spares it. */
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

  /** Delivers what this command made due. `isNews`: D1 must get builds. What a load found waits for the alarm. */
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

  /** Delivers at once, unless the last attempt failed: the next attempt then has its own time. */
  #tellAtOnce(channel: Channel): void {
    const { at, failures } = this.#machine.state.outbox[channel];
    if (at !== null && failures === 0) this.#ctx.waitUntil(this.#tell(channel));
  }

  async #tell(channel: Channel): Promise<void> {
    const { orgId } = this.#machine;
    await this.#courier.tell(channel).catch((error) => log.error("pool.channel_failed", { orgId, channel, error }));
  }
}
