import { count } from "../../count.ts";
import { createElement } from "../elements.ts";
import type { Colours } from "./colours.ts";
import type { LogStore } from "./log-store.ts";
import { paintLine } from "./paint.ts";
import { HEADER_HEIGHT, type Section } from "./sections.ts";

/** Lines by index, from the first to the last, both included. */
export interface LineRange {
  from: number;
  to: number;
}

export const headerRow = (section: Section, name: string): HTMLElement => {
  const header = createElement("button", "log-head", name) as HTMLButtonElement;
  header.type = "button";
  header.style.height = `${HEADER_HEIGHT}px`;
  header.dataset.section = section.key;
  header.dataset.row = `head ${section.key}`;
  header.dataset.state = section.state;
  header.setAttribute("aria-expanded", String(section.isOpen));
  header.append(createElement("span", "log-count", count(section.end - section.first, "line")));
  return header;
};

/** Creates the rows of lines. A row that looks as in the last frame is used again. */
export class LineRows {
  readonly #store: LogStore;
  readonly #colours: Colours;
  readonly #source: string;
  #before = new Map<number, HTMLElement>();
  #drawn = new Map<number, HTMLElement>();
  #look = "";
  #needle = "";
  #linked: LineRange | null = null;

  constructor(store: LogStore, colours: Colours, source: string) {
    this.#store = store;
    this.#colours = colours;
    this.#source = source;
  }

  /** Begins a frame. The arguments decide, beside the text, how lines look. */
  begin(needle: string, linked: LineRange | null, begins: number[]): void {
    const look = JSON.stringify([needle, linked, begins, this.#store.generation]);
    this.#before = look === this.#look ? this.#drawn : new Map();
    this.#look = look;
    this.#drawn = new Map();
    this.#needle = needle;
    this.#linked = linked;
  }

  row(index: number): HTMLElement {
    const row = this.#drawn.get(index) ?? this.#before.get(index) ?? this.#make(index);
    const isWhole = index < this.#store.count - 1;
    if (isWhole) this.#drawn.set(index, row);
    return row;
  }

  #make(index: number): HTMLElement {
    const row = createElement("div", "log-row");
    const number = createElement("a", "log-number", String(index + 1)) as HTMLAnchorElement;
    number.href = `#L${index + 1}`;
    const text = createElement("span", "log-text");
    const { nodes, more } = paintLine(this.#store.line(index), this.#needle, this.#colours.before(index));
    text.append(...nodes);
    if (more > 0) text.append(this.#rest(more));
    row.dataset.row = String(index);
    const linked = this.#linked;
    if (linked && index >= linked.from && index <= linked.to) row.classList.add("is-chosen");
    row.append(number, text);
    return row;
  }

  #rest(more: number): HTMLElement {
    const note = createElement("span", "log-rest", ` … ${more.toLocaleString("en")} more characters: `);
    const raw = createElement("a", "", "Raw") as HTMLAnchorElement;
    raw.href = this.#source;
    note.append(raw);
    return note;
  }
}
