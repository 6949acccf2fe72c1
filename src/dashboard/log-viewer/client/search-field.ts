import { createButton, createElement } from "../../shell/client/elements.ts";
import type { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";
import { MOST_CHARACTERS, visibleText } from "./paint.ts";

const LINES_AT_ONCE = 20_000;

/** Reports whether the line's first match is among the drawn characters. */
const isShown = (line: string, needle: string): boolean => {
  const at = visibleText(line).toLowerCase().indexOf(needle);
  return at + needle.length <= MOST_CHARACTERS;
};

/**
 * Finds the lines in the range that contain the text, in upper or lower case, and returns their indexes. Pauses after
 * each block of lines to keep the page responsive, and stops when `isWanted` is false.
 */
const searchLog = async (
  store: LogStore,
  needle: string,
  isWanted: () => boolean,
  range: { from: number; to: number },
): Promise<number[]> => {
  const matches: number[] = [];
  for (let { from } = range; from < range.to && isWanted(); from += LINES_AT_ONCE) {
    const to = Math.min(range.to, from + LINES_AT_ONCE);
    const text = store.text(from, to);
    if (/[\x1b\b]/.test(text) || text.toLowerCase().includes(needle)) {
      const lines = text.split("\n");
      for (let at = 0; at < to - from; at += 1) {
        if (
          visibleText(lines[at] ?? "")
            .toLowerCase()
            .includes(needle)
        )
          matches.push(from + at);
      }
    }
    await new Promise((resolve) => setTimeout(resolve));
  }
  return matches;
};

const TYPING_MS = 150;
/** Milliseconds between two searches of a growing log's new lines. */
const GROWN_MS = 500;

/**
 * The field that searches the log. It counts the lines with the text, including new lines, and moves from one match to
 * the next.
 */
export class SearchField {
  readonly elements: HTMLElement[];
  readonly #store: LogStore;
  readonly #view: LogView;
  readonly #readAll: () => Promise<void>;
  readonly #input = document.createElement("input");
  readonly #result = createElement("output", "");
  #matches: number[] = [];
  #at = -1;
  /** The number of searched lines. The last of these lines may have grown since. */
  #searched = 0;
  #generation = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isBusy = false;
  /** Whether the page is fetching the missing part of the log. */
  #isReading = false;

  /** @param readAll Fetches the missing part of the log, because a search covers the whole log. */
  constructor(store: LogStore, view: LogView, readAll: () => Promise<void>) {
    this.#store = store;
    this.#view = view;
    this.#readAll = readAll;
    this.#input.type = "search";
    this.#input.placeholder = "Search the log";
    this.#input.setAttribute("aria-label", "Search the log");
    this.#input.dataset.key = "/";
    this.#input.addEventListener("input", () => this.#plan(TYPING_MS));
    this.#input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.#moveBy(event.shiftKey ? -1 : 1);
    });
    const steps = [this.#button("Previous match", "M4 10l4-4 4 4", -1), this.#button("Next match", "M4 6l4 4 4-4", 1)];
    this.elements = [this.#input, this.#result, ...steps];
  }

  #button(label: string, path: string, by: number): HTMLElement {
    const button = createButton("quiet", "", () => this.#moveBy(by));
    button.setAttribute("aria-label", label);
    const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    icon.setAttribute("viewBox", "0 0 16 16");
    icon.setAttribute("class", "icon");
    icon.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", path);
    icon.append(line);
    button.append(icon);
    return button;
  }

  /** Plans a search of the log's new lines. */
  grew(): void {
    if (this.#view.needle !== "" && !this.#isBusy) this.#plan(GROWN_MS, false);
  }

  #plan(after: number, again = true): void {
    if (again) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#search();
    }, after);
  }

  async #search(): Promise<void> {
    const needle = this.#input.value.toLowerCase();
    const isNew = needle !== this.#view.needle || this.#generation !== this.#store.generation;
    if (isNew) {
      this.#matches = [];
      this.#at = -1;
      this.#searched = 0;
      this.#generation = this.#store.generation;
      this.#view.mark(needle);
      this.#result.textContent = needle === "" ? "" : "searching";
    }
    if (needle === "") return;
    if (isNew && this.#store.base > 0 && !this.#isReading) void this.#readEarlier();
    const from = Math.max(0, this.#searched - 1);
    const to = this.#store.count;
    this.#isBusy = true;
    const newMatches = await searchLog(this.#store, needle, () => this.#input.value.toLowerCase() === needle, {
      from,
      to,
    });
    this.#isBusy = false;
    if (this.#input.value.toLowerCase() !== needle) return;
    if (this.#generation !== this.#store.generation) return this.#plan(0, false);
    const last = this.#matches.at(-1) ?? -1;
    for (const line of newMatches) if (line > last) this.#matches.push(line);
    this.#searched = to;
    if (isNew && this.#matches.length > 0) this.#moveBy(1);
    else this.#tell();
    if (this.#store.count > to) this.#plan(GROWN_MS, false);
  }

  async #readEarlier(): Promise<void> {
    this.#isReading = true;
    await this.#readAll();
    this.#isReading = false;
    // If a search of new lines is planned, that search shows the result later.
    if (this.#view.needle !== "" && this.#generation === this.#store.generation) this.#tell();
  }

  /** Returns the words for a search without a match. The text may be in lines that are not loaded. */
  #nothing(): string {
    if (this.#store.base === 0) return "not found";
    return this.#isReading ? "searching earlier lines" : "not found in the loaded lines";
  }

  #moveBy(by: number): void {
    const { length } = this.#matches;
    if (length === 0) return;
    this.#at = (this.#at + by + length) % length;
    this.#tell();
    this.#view.showMatch(this.#matches[this.#at] ?? 0);
  }

  #tell(): void {
    const line = this.#matches[this.#at];
    const place =
      line === undefined
        ? this.#matches.length === 0
          ? this.#nothing()
          : `${this.#matches.length.toLocaleString("en")} found`
        : `${(this.#at + 1).toLocaleString("en")} of ${this.#matches.length.toLocaleString("en")}`;
    const isSeen = line === undefined || isShown(this.#store.line(line), this.#view.needle);
    this.#result.textContent = isSeen ? place : `${place}, past the shown part of the line: see Raw`;
  }
}
