import type { CloseResult } from "../domain/pool/outbox.ts";
import type { PoolStorage } from "./agent-pool-storage.ts";
import type { LogOutboxEntry } from "./agent-pool-tables.ts";

/** Logs that one attempt closes at most. */
const BATCH_SIZE = 100;
/** Entries among which an attempt chooses: those that failed the fewest times go first. */
const WINDOW = 1_000;
/** Failures after which a close becomes a dead letter. */
const MAX_FAILURES = 30;

/** Closes the logs of leases that are over. A close that fails holds up no other. */
export class Closes {
  readonly #storage: PoolStorage;
  readonly #close: (entry: LogOutboxEntry) => Promise<void>;
  readonly #failures = new Map<number, number>();

  constructor(storage: PoolStorage, close: (entry: LogOutboxEntry) => Promise<void>) {
    this.#storage = storage;
    this.#close = close;
  }

  /** One attempt. @returns which entries are done */
  async deliver(): Promise<CloseResult> {
    const result: CloseResult = { entries: [], failed: false };
    const entries = this.#storage.logEntries(WINDOW);
    const failuresOf = ({ seq }: { seq: number }) => this.#failures.get(seq) ?? 0;
    entries.sort((left, right) => failuresOf(left) - failuresOf(right));
    const chosen = entries.slice(0, BATCH_SIZE);
    await Promise.all(chosen.map(({ seq, entry }) => this.#closeOne(seq, entry, result)));
    return result;
  }

  async #closeOne(seq: number, entry: LogOutboxEntry, result: CloseResult): Promise<void> {
    try {
      await this.#close(entry);
    } catch (error) {
      const failures = (this.#failures.get(seq) ?? 0) + 1;
      this.#failures.set(seq, failures);
      if (failures < MAX_FAILURES) {
        result.failed = true;
        console.error("pool: a log could not be closed; the next attempt will try again", entry.jobId, error);
        return;
      }
      this.#storage.deadLetters.add({ kind: "close", ...entry }, error instanceof Error ? error.message : "unknown");
    }
    this.#failures.delete(seq);
    result.entries.push(seq);
  }
}
