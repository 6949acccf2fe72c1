import { SECOND_MS } from "../protocol/units.ts";
/** Runs one attempt at a time. Callers that request another attempt meanwhile wait for the running one. */
export class SingleFlight {
  readonly #attempt: () => Promise<void>;
  #present: Promise<void> | null = null;

  constructor(attempt: () => Promise<void>) {
    this.#attempt = attempt;
  }

  /** The running attempt. */
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

/** Milliseconds for which a caller of a pool waits for D1. After that, the pool's alarm continues the work. */
export const CALLER_WAIT_MS = SECOND_MS;

/** Waits for the promise, or until this time has passed. */
export const within = async (milliseconds: number, promise: Promise<unknown>): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
};
