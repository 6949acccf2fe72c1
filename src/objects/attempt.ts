import { SECOND_MS } from "../protocol/units.ts";
/** Runs one attempt at a time: callers that request another meanwhile wait for the running one. */
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

/** Milliseconds that a caller of a pool waits for D1. After that, the alarm continues. */
export const CALLER_WAIT_MS = SECOND_MS;

/** Waits for the promise, but at most this long. */
export const within = async (milliseconds: number, promise: Promise<unknown>): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
};
