/** Something that may happen at any time, for one who waits. Rung while nobody waits, the next wait ends at once. */
export class AutoResetEvent {
  #rung = false;
  #wake: (() => void) | null = null;

  set(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Until it is rung, `milliseconds` have passed, or the signal is aborted; never throws. */
  wait(milliseconds: number | null = null, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = milliseconds === null ? null : setTimeout(() => end(), milliseconds);
      const end = (): void => {
        if (timer !== null) clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        this.#wake = null;
        this.#rung = false;
        resolve();
      };
      this.#wake = end;
      signal?.addEventListener("abort", end, { once: true });
      if (this.#rung || signal?.aborted) end();
    });
  }
}
