import type { LogStore } from "./log-store.ts";
import type { Section } from "./sections.ts";

/** Up to this many lines every step is open from the beginning. */
const SHORT = 200;

/** Which steps are open: as a person left them, else as they were in this page, else by how they ended. */
export class Folds {
  readonly #store: LogStore;
  readonly #open = new Map<string, boolean>();
  #isWatched = false;

  constructor(store: LogStore) {
    this.#store = store;
  }

  set(key: string, isOpen: boolean): void {
    this.#open.set(key, isOpen);
  }

  /** From now on what comes is read as it comes: it stays open when its step ends, and when the log grows long. */
  watch(sections: Section[]): void {
    for (const { key, name, isOpen } of sections) if (name !== null && !this.#open.has(key)) this.set(key, isOpen);
    this.#isWatched = true;
  }

  readonly isOpen = (key: string, state: string, name: string | null): boolean => {
    if (name === null) return true;
    if (this.#isWatched && !this.#open.has(key)) this.set(key, true);
    return this.#open.get(key) ?? (this.#store.count <= SHORT || state === "failed" || state === "running");
  };
}
