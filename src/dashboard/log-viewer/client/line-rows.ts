import { count, formatDuration } from "../../parts/format.ts";
import { createElement } from "../../shell/client/elements.ts";
import type { Colours } from "./colours.ts";
import type { Groups, LogGroup } from "./groups.ts";
import { HEADER_HEIGHT, type StepSection } from "./log-layout.ts";
import type { LogStore } from "./log-store.ts";
import { paintLine } from "./paint.ts";

interface TimeOfPart {
  offset: number;
  at: string;
}

/** Milliseconds between two requests for the times of a growing log. */
const AGAIN_MS = 5000;

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** The times when the service stored the lines. The page fetches them when a person first shows them. */
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

  /** Fetches the times of new lines. Returns whether the times changed. */
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

  /** Returns the line's time since its step began, and the exact time in two zones; null if the time is unknown. */
  timestamp(line: number, step: { startedAt: string } | undefined): { text: string; title: string } | null {
    const offset = this.#store.start(line);
    const at = Date.parse(this.#findPart(offset)?.at ?? "");
    if (Number.isNaN(at)) return null;
    const utc = new Date(at)
      .toISOString()
      .replace("T", " ")
      .replace(/\.\d+Z$/, " UTC");
    const since = step?.startedAt ? at - Date.parse(step.startedAt) : null;
    const text = since === null ? "" : since < 1000 ? "+0s" : `+${formatDuration(since)}`;
    return { text, title: `${exact.format(at)} (${utc})` };
  }

  /** Returns the last part that begins at or before the byte. */
  #findPart(offset: number): TimeOfPart | undefined {
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

/** A range of lines by index, from the first to the last, both included. */
export interface LineRange {
  from: number;
  to: number;
}

/** The values that determine, together with the text, how a line looks. */
interface RowLook {
  needle: string;
  /** The lines in the address. */
  linked: LineRange | null;
  /** The line of the current match. */
  matchLine: number | null;
  sections: StepSection[];
}

export const headerRow = (section: StepSection, name: string): HTMLElement => {
  const header = createElement("button", "log-head", name) as HTMLButtonElement;
  header.type = "button";
  header.style.height = `${HEADER_HEIGHT}px`;
  header.dataset.section = section.key;
  header.dataset.row = `head ${section.key}`;
  header.dataset.state = section.state;
  header.setAttribute("aria-expanded", String(section.isOpen));
  const row = document.querySelector(`#steps > #${section.key}`);
  const icon = row?.querySelector("svg.state");
  if (icon) header.prepend(icon.cloneNode(true));
  const took = row?.querySelector(".took:not([data-since])")?.textContent;
  if (took) header.append(createElement("span", "log-took", took));
  header.append(createElement("span", "log-count", count(section.end - section.first, "line")));
  return header;
};

/** Returns a group's head, which shows its title, and which folds and unfolds the group. */
const groupHead = ({ head, end, hasEnd, isOpen }: LogGroup, nodes: Node[]): HTMLElement => {
  const button = createElement("button", "log-fold") as HTMLButtonElement;
  button.type = "button";
  button.dataset.group = String(head);
  button.setAttribute("aria-expanded", String(isOpen));
  button.append(...nodes);
  if (!isOpen) button.append(createElement("span", "log-count", ` ${count(end - head - (hasEnd ? 2 : 1), "line")}`));
  return button;
};

/** Creates the rows of lines. Reuses a row that looks the same as in the last frame. */
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
  #matchLine: number | null = null;
  #sections: StepSection[] = [];
  readonly #times: LineTimes;

  constructor(store: LogStore, colours: Colours, groups: Groups, times: LineTimes, source: string) {
    this.#times = times;
    this.#store = store;
    this.#colours = colours;
    this.#groups = groups;
    this.#source = source;
  }

  /** Begins a frame. The arguments determine, together with the text, how lines look. */
  begin({ needle, linked, matchLine, sections }: RowLook): void {
    const begins = sections.map(({ first, startedAt }) => [first, startedAt]);
    const { isShown, version } = this.#times;
    const versions = [this.#store.generation, this.#groups.version, this.#colours.version, isShown, version];
    const look = JSON.stringify([needle, linked, matchLine, begins, versions]);
    this.#before = look === this.#look ? this.#drawn : new Map();
    this.#look = look;
    this.#drawn = new Map();
    this.#needle = needle;
    this.#linked = linked;
    this.#matchLine = matchLine;
    this.#sections = sections;
  }

  row(index: number): HTMLElement {
    const row = this.#drawn.get(index) ?? this.#before.get(index) ?? this.#make(index);
    const isWhole = index < this.#store.count - 1;
    if (isWhole) this.#drawn.set(index, row);
    return row;
  }

  #make(index: number): HTMLElement {
    const row = createElement("div", "log-row");
    const isNumbered = this.#store.base === 0;
    const number = createElement("a", "log-number", isNumbered ? String(index + 1) : "·") as HTMLAnchorElement;
    number.href = isNumbered ? `#L${index + 1}` : `#at-${this.#store.start(index)}`;
    if (!isNumbered) number.setAttribute("aria-label", "Link to this line");
    const text = createElement("span", "log-text");
    const group = this.#groups.at(index);
    const lineText = group ? group.title : this.#store.line(index);
    const { nodes, more } = paintLine(lineText, this.#needle, this.#colours.before(index));
    text.append(...(group ? [groupHead(group, nodes)] : nodes));
    if (more > 0) text.append(this.#rest(more));
    row.dataset.row = String(index);
    const linked = this.#linked;
    if (linked && index >= linked.from && index <= linked.to) row.classList.add("is-chosen");
    if (index === this.#matchLine) row.classList.add("is-match");
    row.append(number);
    if (this.#times.isShown) row.append(this.#time(index));
    row.append(text);
    return row;
  }

  #time(index: number): HTMLElement {
    const time = this.#times.timestamp(
      index,
      this.#sections.find(({ first, end }) => index >= first && index < end),
    );
    const element = createElement("span", "log-time", time?.text ?? "");
    element.title = time?.title ?? "";
    return element;
  }

  #rest(more: number): HTMLElement {
    const note = createElement("span", "log-rest", ` … ${more.toLocaleString("en")} more characters: `);
    const raw = createElement("a", "", "Raw") as HTMLAnchorElement;
    raw.href = this.#source;
    note.append(raw);
    return note;
  }
}
