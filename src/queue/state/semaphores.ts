import type { Semaphore } from "../jobs/semaphores.ts";

/** Those who hold a semaphore. */
export interface Holders {
  readonly size: number;
  has(holder: string): boolean;
}

interface Holding {
  count: number;
  limit: number | null;
}

const NOBODY: ReadonlyMap<string, Holding> = new Map();

/** Who holds each semaphore by a lease (`held`), and who by a lease or an open offer (`taken`). */
export class Semaphores {
  readonly #held = new Map<string, Map<string, Holding>>();
  readonly #taken = new Map<string, Map<string, Holding>>();

  held(key: string): ReadonlyMap<string, Holding> {
    return this.#held.get(key) ?? NOBODY;
  }

  taken(key: string): ReadonlyMap<string, Holding> {
    return this.#taken.get(key) ?? NOBODY;
  }

  /** By a lease. */
  hold(semaphore: Semaphore, by: 1 | -1): void {
    count(this.#held, semaphore, by);
    count(this.#taken, semaphore, by);
  }

  /** By an offer. */
  take(semaphore: Semaphore, by: 1 | -1): void {
    count(this.#taken, semaphore, by);
  }
}

const count = (semaphores: Map<string, Map<string, Holding>>, { key, holder, limit }: Semaphore, by: 1 | -1): void => {
  const holders = semaphores.get(key) ?? new Map<string, Holding>();
  const sum = (holders.get(holder)?.count ?? 0) + by;
  if (sum === 0) holders.delete(holder);
  else holders.set(holder, { count: sum, limit });
  if (holders.size === 0) semaphores.delete(key);
  else semaphores.set(key, holders);
};
