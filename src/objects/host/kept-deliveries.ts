import { type DeliveryNote, isTooOld, type KeptDelivery, orderKey } from "../../githosts/core/delivery-note.ts";
import { log } from "../../log.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import type { HostStore } from "./store.ts";

/**
 * Milliseconds until the first attempt, and between attempts after a failure. Each failure doubles them, up to five
 * minutes.
 */
const FIRST_MS = 15 * SECOND_MS;
const MOST_MS = 5 * MINUTE_MS;
/**
 * Repositories that may fail in one run. One failed repository may have its own problem; more mean that the service has
 * a problem.
 */
const MOST_FAILURES = 3;

/**
 * Handles one delivery. Returns its line in the list, or null if its hook is gone. Throws if the service is
 * unavailable.
 */
type Take = (delivery: KeptDelivery) => Promise<DeliveryNote | null>;

interface Row {
  seq: number;
  delivery: KeptDelivery;
}

/** Deliveries that arrived while the service could not handle them, in the order of their arrival. */
export class KeptDeliveries {
  readonly #store: HostStore;
  /** True if no delivery waits; null until the first read. */
  #isEmpty: boolean | null = null;
  #failures = 0;
  #nextAt = Date.now();

  constructor(store: HostStore) {
    this.#store = store;
  }

  /** The time of the next attempt; null if no delivery waits. */
  get nextAt(): number | null {
    this.#isEmpty ??= this.#after(0) === null;
    return this.#isEmpty ? null : this.#nextAt;
  }

  /**
   * Stores a delivery, once. A newer generation of the hook replaces the earlier ones, so that a caller with only an
   * older secret cannot use up the room of valid deliveries.
   * @returns whether there is room for the delivery
   */
  keep(delivery: KeptDelivery, now: number): boolean {
    const { sql } = this.#store;
    const { note, generation } = delivery;
    if (this.nextAt === null) this.#nextAt = now + FIRST_MS;
    sql.exec("DELETE FROM kept WHERE generation < ?", generation);
    const [sameDelivery] = sql.exec("SELECT 1 FROM kept WHERE generation = ? AND id = ?", generation, note.id);
    if (sameDelivery) return true;
    const facts = JSON.stringify(delivery);
    const usage = sql
      .exec("SELECT count(*) AS number, total(length(facts)) AS size, max(generation) AS newest FROM kept")
      .one();
    const isFull =
      Number(usage.number) >= LIMITS.keptDeliveries || Number(usage.size) + facts.length > LIMITS.keptCharacters;
    if (isFull || Number(usage.newest) > generation) return false;
    sql.exec("INSERT INTO kept (id, generation, facts) VALUES (?, ?, ?)", note.id, generation, facts);
    this.#isEmpty = false;
    return true;
  }

  /** Returns lines for the list of deliveries, the newest first. */
  notes(limit: number): DeliveryNote[] {
    const rows = this.#store.sql.exec("SELECT facts FROM kept ORDER BY seq DESC LIMIT ?", limit);
    return [...rows].map(({ facts }) => (JSON.parse(String(facts)) as KeptDelivery).note);
  }

  /** Retries at once. The service just handled another delivery, and is therefore available. */
  hurry(now: number): void {
    this.#nextAt = Math.min(this.#nextAt, now);
  }

  /**
   * Handles waiting deliveries until `until`, the oldest first. A failed delivery delays only its own repository. Never
   * throws.
   */
  async take(take: Take, until: number): Promise<void> {
    const failed = new Set<number | null>();
    let row = this.#after(0);
    for (; row !== null && Date.now() < until && failed.size < MOST_FAILURES; row = this.#after(row.seq)) {
      const key = orderKey(row.delivery);
      if (failed.has(key)) continue;
      const outcome = await takeOne(take, row.delivery, this.#store);
      // Another call emptied the object meanwhile.
      if (this.#isEmpty) return;
      if (outcome === "away") failed.add(key);
      else this.#finish(row, outcome);
    }
    this.#isEmpty = this.#after(0) === null;
    this.#failures = failed.size === 0 ? 0 : this.#failures + 1;
    const wait = failed.size === 0 ? 0 : Math.min(FIRST_MS * 2 ** this.#failures, MOST_MS);
    this.#nextAt = Date.now() + wait;
  }

  /**
   * Removes a finished delivery. If its hook is gone, also removes the other deliveries of the hook's generation and of
   * earlier generations.
   */
  #finish({ seq, delivery }: Row, note: DeliveryNote | null): void {
    const { sql } = this.#store;
    if (!note) sql.exec("DELETE FROM kept WHERE generation <= ?", delivery.generation);
    else {
      this.#store.noteDelivery(note);
      sql.exec("DELETE FROM kept WHERE seq = ?", seq);
    }
  }

  #after(seq: number): Row | null {
    const [row] = this.#store.sql.exec("SELECT seq, facts FROM kept WHERE seq > ? ORDER BY seq LIMIT 1", seq);
    return row ? { seq: Number(row.seq), delivery: JSON.parse(String(row.facts)) } : null;
  }

  /** Reads nothing more from the store, because another call emptied it. */
  forget(): void {
    this.#isEmpty = true;
  }
}

const takeOne = async (take: Take, delivery: KeptDelivery, store: HostStore): Promise<DeliveryNote | null | "away"> => {
  if (isTooOld(delivery, Date.now())) return { ...delivery.note, ignored: "it waited for four days: redeliver it" };
  try {
    return await take(delivery);
  } catch (error) {
    log.warn("host.delivery_waits", { ...store.owner, delivery: delivery.note.id, error });
    return "away";
  }
};
