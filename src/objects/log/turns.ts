import { KeyUnknown, SealBroken } from "../../crypto/keyring.ts";
import { KeysUnusable } from "../../crypto/keys.ts";
import type { ProblemKind } from "../../protocol/problem.ts";
import type { LogMasking } from "./masking.ts";
import type { BuildLogStore } from "./store.ts";

interface LogRefusal {
  kind: Extract<ProblemKind, "lease-lost" | "log-gap" | "not-found" | "too-large" | "keyring-unavailable">;
  detail: string;
  expectedOffset?: number;
}
export type LogResult<T> = { ok: true; value: T } | { ok: false; refusal: LogRefusal };

export const success = <T>(value: T): LogResult<T> => ({ ok: true, value });
export const refuse = (kind: LogRefusal["kind"], detail: string, expectedOffset?: number): LogResult<never> => ({
  ok: false,
  refusal: { kind, detail, expectedOffset },
});

/** Runs the calls that change a log one after another. */
export class LogTurns {
  readonly #masking: LogMasking;
  readonly #store: BuildLogStore;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(masking: LogMasking, store: BuildLogStore) {
    this.#masking = masking;
    this.#store = store;
  }

  /**
   * Runs a call after the earlier ones. After an error, drops the copy in memory, because it may be ahead of the disk.
   */
  take<T>(work: () => Promise<LogResult<T>>): Promise<LogResult<T>> {
    const result = this.#turn.then(async () => {
      try {
        return await work();
      } catch (error) {
        this.#masking.forget();
        this.#store.forget();
        if (error instanceof KeyUnknown || error instanceof SealBroken || error instanceof KeysUnusable) {
          return refuse("keyring-unavailable", "This log's secrets cannot be decrypted: a key is missing or wrong.");
        }
        throw error;
      }
    });
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
