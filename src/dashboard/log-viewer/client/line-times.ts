import { formatDuration } from "../../parts/format-time.ts";
import type { LogStore } from "./log-store.ts";

interface TimeOfPart {
  offset: number;
  at: string;
}

/** A log that grows is asked for its times again after so long. */
const AGAIN_MS = 5000;

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** When lines were stored. They are fetched when somebody wants to see them first. */
export class LineTimes {
  readonly #store: LogStore;
  readonly #source: string;
  #parts: TimeOfPart[] = [];
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #size = -1;
  isShown = false;
  /** Increases with each change. */
  version = 0;

  constructor(store: LogStore, source: string) {
    this.#store = store;
    this.#source = source;
  }

  /** Fetches the times of lines that are new. Returns whether there are other ones now. */
  async update(): Promise<boolean> {
    const now = performance.now();
    if (!this.isShown || this.#size === this.#store.size || now - this.#fetchedAt < AGAIN_MS) return false;
    this.#fetchedAt = now;
    this.#size = this.#store.size;
    const response = await fetch(`${this.#source}/times`);
    if (!response.ok) return false;
    this.#parts = (await response.json()) as TimeOfPart[];
    this.version += 1;
    return true;
  }

  /** The time of a line: since its step began, and exact in two zones. Null where it is not known. */
  of(line: number, step: { startedAt: string } | undefined): { text: string; title: string } | null {
    const offset = this.#store.start(line);
    const at = Date.parse(this.#partOf(offset)?.at ?? "");
    if (Number.isNaN(at)) return null;
    const utc = new Date(at)
      .toISOString()
      .replace("T", " ")
      .replace(/\.\d+Z$/, " UTC");
    const since = step?.startedAt ? at - Date.parse(step.startedAt) : null;
    const text = since === null ? "" : since < 1000 ? "+0s" : `+${formatDuration(since)}`;
    return { text, title: `${exact.format(at)} (${utc})` };
  }

  /** The last part that begins at the byte or before. */
  #partOf(offset: number): TimeOfPart | undefined {
    let low = 0;
    let high = this.#parts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#parts[middle]?.offset ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return this.#parts[low - 1];
  }
}
