/**
 * An event for one waiter, like .NET's AutoResetEvent. The end of a wait resets the event, and a wait that begins after
 * `set` ends at once.
 */
export class AutoResetEvent {
  #isSet = false;
  #wake: (() => void) | null = null;

  set(): void {
    this.#isSet = true;
    this.#wake?.();
  }

  reset(): void {
    this.#isSet = false;
  }

  /** Waits until the event is set, `milliseconds` have passed or the signal is aborted. Never rejects. */
  wait(milliseconds: number | null = null, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = milliseconds === null ? null : setTimeout(() => end(), milliseconds);
      const end = (): void => {
        if (timer !== null) clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        this.#wake = null;
        this.#isSet = false;
        resolve();
      };
      this.#wake = end;
      signal?.addEventListener("abort", end, { once: true });
      if (this.#isSet || signal?.aborted) end();
    });
  }
}

/** Waits until `milliseconds` have passed or the signal is aborted. Never rejects. */
export const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new AutoResetEvent().wait(milliseconds, signal);
