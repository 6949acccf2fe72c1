import { log } from "../../log.ts";
import { HOUR_MS, MINUTE_MS } from "../../protocol/units.ts";
import { SingleFlight } from "../attempt.ts";
import type { BuildLogFollowers } from "./followers.ts";
import type { LogMasking } from "./masking.ts";
import type { BuildLogStore } from "./store.ts";
import type { LogText } from "./text.ts";
import { type LogTurns, success } from "./turns.ts";

/** Milliseconds from the close of an ended job's log until it moves to the archive. Until then its object serves it. */
const MOVE_AFTER = HOUR_MS;
/** Milliseconds until the next attempt if the archive is unavailable. */
const MOVE_RETRY = 5 * MINUTE_MS;
/** A fence above that of every lease. It marks a deleted log. */
const NO_LEASE = Number.MAX_SAFE_INTEGER;

/** The parts of a log's object that a move uses. */
interface Parts {
  storage: DurableObjectStorage;
  store: BuildLogStore;
  text: LogText;
  masking: LogMasking;
  followers: BuildLogFollowers;
  turns: LogTurns;
}

/**
 * Removes a log from its object. An ended job's log moves to the archive after an hour; a deleted log is lost for good.
 */
export class LogMove {
  readonly #parts: Parts;
  readonly #moving = new SingleFlight(() => this.#moveOnce());

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Sets the alarm. In an hour, the log moves to the archive or the object forgets the deletion. */
  async schedule(): Promise<void> {
    await this.#parts.storage.setAlarm(Date.now() + MOVE_AFTER);
  }

  /** Moves an ended log to the archive, or forgets that an empty log was closed. Leaves an unfinished log alone. */
  run(): Promise<void> {
    return this.#moving.run();
  }

  async onAlarm(): Promise<void> {
    try {
      await this.run();
    } catch (error) {
      const { orgId = null, jobId = null } = this.#parts.store.ended ?? {};
      log.error("log.move_failed", { orgId, jobId, error });
      await this.#parts.storage.setAlarm(Date.now() + MOVE_RETRY);
    }
  }

  /** Deletes the whole log at the end of its retention. Leaves nothing on disk. */
  purge(): Promise<void> {
    return this.#deleteAll(async () => undefined);
  }

  /**
   * Deletes the log because a person requested it. For an hour, agents cannot write to it; after that, nothing is left.
   */
  remove(): Promise<void> {
    return this.#deleteAll(async () => {
      this.#parts.store.close(NO_LEASE);
      await this.schedule();
    });
  }

  async #deleteAll(afterwards: () => Promise<void>): Promise<void> {
    const { turns, masking, followers, store } = this.#parts;
    await this.#moving.present?.catch(() => undefined);
    await turns.take(async () => {
      masking.forget();
      followers.closeAll();
      await store.deleteAll();
      await afterwards();
      return success(null);
    });
  }

  async #moveOnce(): Promise<void> {
    const { store, text, turns, masking, followers } = this.#parts;
    const { ended } = store;
    if (ended) await text.copy(ended);
    await turns.take(async () => {
      if (!store.isLaid || (store.current() && !store.ended)) return success(null);
      masking.forget();
      followers.sendMoved();
      await store.deleteAll();
      return success(null);
    });
  }
}
