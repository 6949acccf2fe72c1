import type { LogStore } from "./log-store.ts";
import type { StepSection } from "./sections.ts";

/** In a log of up to this many lines, every step is open at first. */
const SHORT = 200;

/** Which steps are open: as the person left them; else as this page showed them; else those that failed or run. */
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

  /** From now on the log is live. Steps that are open or begin stay open when they end and the log grows. */
  watch(sections: StepSection[]): void {
    for (const { key, name, isOpen } of sections) if (name !== null && !this.#open.has(key)) this.set(key, isOpen);
    this.#isWatched = true;
  }

  readonly isOpen = (key: string, state: string, name: string | null): boolean => {
    if (name === null) return true;
    if (this.#isWatched && !this.#open.has(key)) this.set(key, true);
    return this.#open.get(key) ?? (this.#store.count <= SHORT || state === "failed" || state === "running");
  };
}
