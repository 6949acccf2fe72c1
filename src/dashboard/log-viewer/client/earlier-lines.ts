import { createButton, createElement } from "../../shell/client/elements.ts";
import { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";

const MEGABYTE = 1_000_000;
/** A line that brings so many bytes in a second brings the whole log without being asked, */
const QUICK = 2 * MEGABYTE;
/** and any line brings the rest that is not longer than this. */
const SHORT = 4 * MEGABYTE;
/** Bytes that are read when a person scrolls up to the first line; each time twice as many. */
const FIRST_PART = 512 * 1024;
/** Pixels from the top within which earlier lines are wanted. */
const NEAR_TOP = 400;

const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0);

/** The lines before those that a page has first, on demand: `12 of 50 MB, earlier lines above`. */
export class EarlierLines {
  readonly note = createElement("span", "log-earlier");
  readonly #words = createElement("span", "");
  readonly #store: LogStore;
  readonly #view: LogView;
  readonly #address: string;
  readonly #added: () => void;
  #next = FIRST_PART;
  #reading: Promise<void> | null = null;
  #read = 0;

  /** @param added is called when lines were added before the first */
  constructor(store: LogStore, view: LogView, address: string, added: () => void) {
    this.#store = store;
    this.#view = view;
    this.#address = address;
    this.#added = added;
    this.note.setAttribute("role", "status");
    this.note.append(
      this.#words,
      createButton("quiet", "Read all", () => void this.readAll()),
    );
    view.scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    this.#tell();
  }

  get areMissing(): boolean {
    return this.#store.base > 0;
  }

  /** The end of the log came at this pace, in bytes a second: over a quick line, or where it is short, the rest follows at once. */
  begin(pace: number): void {
    this.#tell();
    if (pace >= QUICK || this.#store.base <= SHORT) void this.readAll();
  }

  async readAll(): Promise<void> {
    while (this.areMissing && (await this.#readFrom(0)));
  }

  #onScroll(): void {
    if (!this.areMissing || this.#reading || this.#view.scroller.scrollTop > NEAR_TOP) return;
    void this.#readFrom(Math.max(0, this.#store.base - this.#next));
    this.#next *= 2;
  }

  /** Reads from this byte on up to what is there. Returns whether it could. */
  async #readFrom(from: number): Promise<boolean> {
    const before = this.#reading;
    if (before) {
      await before;
      return true;
    }
    const generation = this.#store.generation;
    const earlier = new LogStore(from);
    const reading = this.#fetch(earlier, this.#store.base);
    this.#reading = reading.catch(() => {});
    try {
      await reading;
    } catch {
      return false;
    } finally {
      this.#reading = null;
      this.#read = 0;
    }
    if (generation === this.#store.generation && earlier.size === this.#store.base)
      this.#view.keepPlace(this.#store.prepend(earlier));
    this.#tell();
    this.#added();
    return true;
  }

  async #fetch(earlier: LogStore, to: number): Promise<void> {
    const range = `bytes=${earlier.base}-${to - 1}`;
    const response = await fetch(this.#address, { headers: { Range: range } });
    if (!response.ok || !response.body) throw new Error(`${response.status}`);
    for await (const bytes of response.body) {
      earlier.append(bytes);
      this.#read += bytes.length;
      this.#tell();
    }
  }

  #tell(): void {
    this.note.hidden = !this.areMissing;
    const { base, size } = this.#store;
    const text = `${megabytes(size - base + this.#read)} of ${megabytes(size)} MB, earlier lines above`;
    if (this.#words.textContent !== text) this.#words.textContent = text;
  }
}
