import type { Colours } from "./colours.ts";
import type { LogStore } from "./log-store.ts";
import { paint } from "./paint.ts";
import { HEADER, type Section } from "./sections.ts";

/** Line indexes that are linked to, both included. */
export interface Chosen {
  from: number;
  to: number;
}

export const make = (name: string, className: string, text = ""): HTMLElement => {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
};

const counted = (lines: number): string => `${lines.toLocaleString("en")} ${lines === 1 ? "line" : "lines"}`;

export const headerRow = (section: Section, name: string): HTMLElement => {
  const header = make("button", "log-head", name) as HTMLButtonElement;
  header.type = "button";
  header.style.height = `${HEADER}px`;
  header.dataset.section = section.key;
  header.dataset.row = `head ${section.key}`;
  header.dataset.state = section.state;
  header.setAttribute("aria-expanded", String(section.isOpen));
  header.append(make("span", "log-count", counted(section.end - section.first)));
  return header;
};

/** Makes the rows of lines. One that looks as in the frame before is not made anew. */
export class LineRows {
  readonly #store: LogStore;
  readonly #colours: Colours;
  readonly #source: string;
  #before = new Map<number, HTMLElement>();
  #drawn = new Map<number, HTMLElement>();
  #look = "";
  #needle = "";
  #chosen: Chosen | null = null;

  constructor(store: LogStore, colours: Colours, source: string) {
    this.#store = store;
    this.#colours = colours;
    this.#source = source;
  }

  /** Begins a frame. `look` says what decides how lines look, beside their text. */
  begin(needle: string, chosen: Chosen | null, begins: number[]): void {
    const look = JSON.stringify([needle, chosen, begins, this.#store.generation]);
    this.#before = look === this.#look ? this.#drawn : new Map();
    this.#look = look;
    this.#drawn = new Map();
    this.#needle = needle;
    this.#chosen = chosen;
  }

  row(index: number): HTMLElement {
    const row = this.#drawn.get(index) ?? this.#before.get(index) ?? this.#make(index);
    const isWhole = index < this.#store.count - 1;
    if (isWhole) this.#drawn.set(index, row);
    return row;
  }

  #make(index: number): HTMLElement {
    const row = make("div", "log-row");
    const number = make("a", "log-number", String(index + 1)) as HTMLAnchorElement;
    number.href = `#L${index + 1}`;
    const text = make("span", "log-text");
    const { nodes, more } = paint(this.#store.line(index), this.#needle, this.#colours.before(index));
    text.append(...nodes);
    if (more > 0) text.append(this.#rest(more));
    row.dataset.row = String(index);
    const chosen = this.#chosen;
    if (chosen && index >= chosen.from && index <= chosen.to) row.classList.add("is-chosen");
    row.append(number, text);
    return row;
  }

  #rest(more: number): HTMLElement {
    const note = make("span", "log-rest", ` … ${more.toLocaleString("en")} more characters: `);
    const raw = make("a", "", "Raw") as HTMLAnchorElement;
    raw.href = this.#source;
    note.append(raw);
    return note;
  }
}
