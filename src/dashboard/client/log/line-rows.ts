import { count } from "../../count.ts";
import { createElement } from "../elements.ts";
import type { Colours } from "./colours.ts";
import type { Group, Groups } from "./groups.ts";
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

/** The head of a group: its title, which folds and unfolds it. */
const groupHead = ({ head, end, hasEnd, isOpen }: Group, nodes: Node[]): HTMLElement => {
  const button = createElement("button", "log-fold") as HTMLButtonElement;
  button.type = "button";
  button.dataset.group = String(head);
  button.setAttribute("aria-expanded", String(isOpen));
  button.append(...nodes);
  if (!isOpen) button.append(createElement("span", "log-count", ` ${count(end - head - (hasEnd ? 2 : 1), "line")}`));
  return button;
};

/** Creates the rows of lines. A row that looks as in the last frame is used again. */
export class LineRows {
  readonly #store: LogStore;
  readonly #colours: Colours;
  readonly #source: string;
  readonly #groups: Groups;
  #before = new Map<number, HTMLElement>();
  #drawn = new Map<number, HTMLElement>();
  #look = "";
  #needle = "";
  #linked: LineRange | null = null;

  constructor(store: LogStore, colours: Colours, groups: Groups, source: string) {
    this.#store = store;
    this.#colours = colours;
    this.#groups = groups;
    this.#source = source;
  }

  /** Begins a frame. The arguments decide, beside the text, how lines look. */
  begin(needle: string, linked: LineRange | null, begins: number[]): void {
    const look = JSON.stringify([needle, linked, begins, this.#store.generation, this.#groups.version]);
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
    const group = this.#groups.at(index);
    const shown = group ? group.title : this.#store.line(index);
    const { nodes, more } = paintLine(shown, this.#needle, this.#colours.before(index));
    text.append(...(group ? [groupHead(group, nodes)] : nodes));
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
