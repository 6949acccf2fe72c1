import type { Room } from "../jobs/rooms.ts";

/** Those who hold a room. */
export interface Holders {
  readonly size: number;
  has(holder: string): boolean;
}

interface Holding {
  count: number;
  limit: number | null;
}

const NOBODY: ReadonlyMap<string, Holding> = new Map();

/** Who holds each room by a lease (`held`), and who by a lease or an open offer (`taken`). */
export class Rooms {
  readonly #held = new Map<string, Map<string, Holding>>();
  readonly #taken = new Map<string, Map<string, Holding>>();

  held(key: string): ReadonlyMap<string, Holding> {
    return this.#held.get(key) ?? NOBODY;
  }

  taken(key: string): ReadonlyMap<string, Holding> {
    return this.#taken.get(key) ?? NOBODY;
  }

  /** By a lease. */
  hold(room: Room, by: 1 | -1): void {
    count(this.#held, room, by);
    count(this.#taken, room, by);
  }

  /** By an offer. */
  take(room: Room, by: 1 | -1): void {
    count(this.#taken, room, by);
  }
}

const count = (rooms: Map<string, Map<string, Holding>>, { key, holder, limit }: Room, by: 1 | -1): void => {
  const holders = rooms.get(key) ?? new Map<string, Holding>();
  const sum = (holders.get(holder)?.count ?? 0) + by;
  if (sum === 0) holders.delete(holder);
  else holders.set(holder, { count: sum, limit });
  if (holders.size === 0) rooms.delete(key);
  else rooms.set(key, holders);
};
