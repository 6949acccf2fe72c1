/*
 * A simulated day's clock, inside the Worker. Time stands still until the drill moves the clock forward. Timers fire at
 * their time on it. A promise that another request resolves continues in the object or request that waits for it.
 */

const RealDate = Date;
const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;

/**
 * The platform cancels a request that has no pending platform work. A platform timer keeps each simulated one alive.
 */
const FAR_MS = 2_000_000_000;

let now = RealDate.now();

export const realNow = (): number => RealDate.now();
/** Waits on the platform's own clock. */
export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    realSetTimeout(resolve, milliseconds);
  });

globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length > 0 ? given : [now]) as [number]));
  }
  static override now(): number {
    return now;
  }
} as DateConstructor;

interface Timer {
  at: number;
  fire(): void;
  drop(): void;
}

const timers = new Set<Timer>();

const setSimulated = (callback: (...given: unknown[]) => void, milliseconds = 0, ...given: unknown[]): unknown => {
  if (milliseconds <= 0) return realSetTimeout(() => callback(...given), 0);
  const { promise, resolve } = Promise.withResolvers<void>();
  const keep = realSetTimeout(() => {}, FAR_MS);
  const timer: Timer = {
    at: now + milliseconds,
    fire: resolve,
    drop: () => realClearTimeout(keep),
  };
  timers.add(timer);
  void promise.then(() => {
    realClearTimeout(keep);
    callback(...given);
  });
  return timer;
};

globalThis.setTimeout = setSimulated as unknown as typeof setTimeout;
globalThis.clearTimeout = ((timer: unknown) => {
  if (typeof timer !== "object" || timer === null || !timers.delete(timer as Timer)) {
    realClearTimeout(timer as Parameters<typeof clearTimeout>[0]);
  } else (timer as Timer).drop();
}) as typeof clearTimeout;

/** Returns the time of the next due timer. */
export const nextTimer = (): number => {
  let next = Number.POSITIVE_INFINITY;
  for (const { at } of timers) next = Math.min(next, at);
  return next;
};

/** Moves the clock forward, never back. */
export const moveTo = (at: number): void => {
  now = Math.max(now, at);
};

/** Sets the clock for the first time. */
export const beginAt = (at: number): void => {
  now = at;
};

export const fireTimers = (): void => {
  for (const timer of [...timers]) {
    if (timer.at > now) continue;
    timers.delete(timer);
    timer.fire();
  }
};
