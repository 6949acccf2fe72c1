/** Runs one attempt at a time: whoever asks for one meanwhile waits for the same attempt. */
export class SingleFlight {
  readonly #attempt: () => Promise<void>;
  #present: Promise<void> | null = null;

  constructor(attempt: () => Promise<void>) {
    this.#attempt = attempt;
  }

  /** The attempt that is under way. */
  get present(): Promise<void> | null {
    return this.#present;
  }

  run(): Promise<void> {
    this.#present ??= this.#attempt().finally(() => {
      this.#present = null;
    });
    return this.#present;
  }
}
