import { DETAILS } from "../../protocol/problem.ts";
import type { Result } from "../../queue/commands/commands.ts";
import type { Command } from "../../queue/commands/step.ts";

/** The key under which the object stores that it was closed, so that it remembers this after a restart. */
const CLOSED = "closed";
/**
 * Commands that a closed pool still runs. With these commands, the pool delivers waiting items to D1 and the logs, and
 * carries out deletions.
 */
const GOES_ON: readonly Command[] = ["sweep", "tidy", "compare", "reconcile", "recordDelivery", "leave"];

/** The end of a pool whose organization is being deleted. The pool first stops answering, then deletes everything. */
export class PoolRemoval {
  readonly #storage: DurableObjectStorage;
  #state: "open" | "closed" | "destroyed";

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#state = storage.kv.get(CLOSED) === true ? "closed" : "open";
  }

  get isClosed(): boolean {
    return this.#state !== "open";
  }

  get isDestroyed(): boolean {
    return this.#state === "destroyed";
  }

  /** @throws if the pool is in use */
  mustBeClosed(): void {
    if (!this.isClosed) throw new Error("This pool is in use: close it first");
  }

  /** Rejects a command with the answer that a removed token gets. Returns null if the command can run. */
  refuse(command: Command): Result<never> | null {
    if (this.#state === "open" || (this.#state === "closed" && GOES_ON.includes(command))) return null;
    return { ok: false, refusal: { kind: "unauthenticated", detail: DETAILS.unauthenticated } };
  }

  close(): void {
    if (this.isClosed) return;
    this.#storage.kv.put(CLOSED, true);
    this.#state = "closed";
  }

  /**
   * Forgets these builds and planned jobs, whose logs are already purged.
   * @throws if the pool is in use
   * @returns the ids of the next builds that the pool knows, at most `limit`
   */
  forgetBuilds(ids: readonly string[], limit: number): string[] {
    this.mustBeClosed();
    if (this.isDestroyed) return [];
    const { sql } = this.#storage;
    for (const table of ["build", "build_job"])
      sql.exec(`DELETE FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`, JSON.stringify(ids));
    const next = sql.exec<{ id: string }>("SELECT id FROM build UNION ALL SELECT id FROM build_job LIMIT ?", limit);
    return [...next].map(({ id }) => id);
  }

  /** Deletes the storage with its alarm. The object in memory rejects later calls, and they store nothing. */
  async destroy(): Promise<void> {
    this.#state = "destroyed";
    await this.#storage.deleteAlarm();
    await this.#storage.deleteAll();
  }
}
