import { paint } from "./row.ts";
import { cut, HEADER, heightOf, ROW, rowAt, type Section, stepsOfPage, topOf } from "./sections.ts";
import type { LogStore } from "./store.ts";

/** Browsers cannot lay out a page of any height: a longer log scrolls faster than the finger. */
const TALLEST = 8_000_000;
const SPARE_ROWS = 15;
/** Up to this many lines every step is open from the beginning. */
const SHORT = 200;
/** Pixels from the end within which a scroll position counts as the end. */
const AT_END = 24;

const make = (name: string, className: string, text = ""): HTMLElement => {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
};

/** Draws the lines of a log that are in sight, folded by step, and nothing else. */
export class LogView {
  readonly scroller: HTMLElement;
  isFollowing: boolean;
  needle = "";
  /** Line indexes that are linked to, both included. */
  chosen: { from: number; to: number } | null = null;
  onFollow: () => void = () => {};
  readonly #store: LogStore;
  readonly #isLive: () => boolean;
  readonly #space = make("div", "log-space");
  readonly #pin = make("div", "log-pin");
  readonly #block = make("div", "log-block");
  readonly #folds = new Map<string, boolean>();
  /** Lines of the frame before and of this one, as long as needle, choice and attempt stay the same. */
  #lines = new Map<number, HTMLElement>();
  #drawn = new Map<number, HTMLElement>();
  #look = "";
  #sections: Section[] = [];
  #height = 0;
  #isPlanned = false;
  #lastTop = 0;

  constructor(scroller: HTMLElement, store: LogStore, isLive: () => boolean) {
    this.scroller = scroller;
    this.#store = store;
    this.#isLive = isLive;
    this.isFollowing = isLive();
    this.#space.append(this.#pin, this.#block);
    scroller.replaceChildren(this.#space);
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#space.addEventListener("click", (event) => this.#clicked(event));
    new ResizeObserver(() => this.plan()).observe(scroller);
  }

  /** Draws at the next frame, once however often it is asked. */
  plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      this.#draw();
    });
  }

  follow(on: boolean): void {
    this.isFollowing = on;
    this.onFollow();
    this.plan();
  }

  /** Opens the step and brings the line into sight. */
  show(line: number): void {
    this.isFollowing = false;
    this.onFollow();
    this.#cut();
    const section = this.#sectionOf(line);
    if (!section) return;
    this.#folds.set(section.key, true);
    this.#cut();
    const opened = this.#sectionOf(line) ?? section;
    this.#scrollTo(topOf(opened, line) - this.scroller.clientHeight / 3);
    this.plan();
  }

  /** Opens a step and brings its header to the top, or its last lines into sight. */
  showStep(key: string, atEnd = false): void {
    this.#folds.set(key, true);
    this.#cut();
    const section = this.#sections.find((candidate) => candidate.key === key);
    if (!section) return;
    this.isFollowing = false;
    this.onFollow();
    this.#scrollTo(atEnd ? section.top + heightOf(section) - this.scroller.clientHeight : section.top);
    this.plan();
  }

  get #scale(): number {
    const visible = this.scroller.clientHeight;
    return Math.max(1, (this.#height - visible) / Math.max(1, Math.min(this.#height, TALLEST) - visible));
  }

  #scrollTo(y: number): void {
    this.#space.style.height = `${Math.min(this.#height, TALLEST)}px`;
    this.scroller.scrollTop = Math.max(0, y) / this.#scale;
  }

  #sectionOf(line: number): Section | undefined {
    return this.#sections.find(({ first, end }) => line >= first && line < end);
  }

  #cut(): void {
    const isShort = this.#store.count <= SHORT;
    const isOpen = (key: string, state: string) =>
      this.#folds.get(key) ?? (isShort || state === "failed" || state === "running");
    const steps = stepsOfPage();
    const { sections, height } = cut(this.#store, steps, (part) =>
      part ? isOpen(part.key, part.state) : steps.length === 0 || isOpen("before", ""),
    );
    this.#sections = sections;
    this.#height = height;
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < AT_END;
    if (this.isFollowing && scrollTop < this.#lastTop && !isAtEnd) this.follow(false);
    else if (!this.isFollowing && isAtEnd && scrollTop > this.#lastTop && this.#isLive()) this.follow(true);
    this.#lastTop = scrollTop;
    this.plan();
  }

  #clicked(event: MouseEvent): void {
    const header = (event.target as Element).closest<HTMLElement>(".log-head");
    if (!header) return;
    const section = this.#sections.find(({ key }) => key === header.dataset.section);
    if (!section) return;
    this.#folds.set(section.key, !section.isOpen);
    if (this.#pin.contains(header)) {
      this.#cut();
      this.#scrollTo(section.top);
    }
    this.plan();
  }

  #draw(): void {
    this.#cut();
    const { scroller } = this;
    this.#space.style.height = `${Math.min(this.#height, TALLEST)}px`;
    if (this.isFollowing) scroller.scrollTop = scroller.scrollHeight;
    const y = scroller.scrollTop * this.#scale;
    const first = rowAt(this.#sections, Math.max(0, y - SPARE_ROWS * ROW));
    const section = this.#sections[first.section];
    if (!section) {
      this.#block.replaceChildren();
      return;
    }
    const look = JSON.stringify([this.needle, this.chosen, this.#store.generation]);
    this.#lines = look === this.#look ? this.#drawn : new Map();
    this.#look = look;
    this.#drawn = new Map();
    const rows: HTMLElement[] = [];
    const wanted = Math.ceil(scroller.clientHeight / ROW) + 2 * SPARE_ROWS;
    for (let at = first.section; at < this.#sections.length && rows.length < wanted; at += 1) {
      this.#rowsOf(this.#sections[at] as Section, at === first.section ? first.line : -1, wanted, rows);
    }
    const top = first.line < 0 ? section.top : topOf(section, section.first + first.line);
    this.#block.style.transform = `translateY(${scroller.scrollTop + top - y}px)`;
    this.#block.style.setProperty("--digits", String(String(this.#store.count).length));
    this.#replace(rows);
    this.#pinStep(y);
    if (this.isFollowing) scroller.scrollTop = scroller.scrollHeight;
  }

  /** The name of the step whose lines are at the top stays in sight. */
  #pinStep(y: number): void {
    const { section: at, line } = rowAt(this.#sections, y);
    const section = this.#sections[at];
    const name = section && line >= 0 ? section.name : null;
    const pinned = this.#pin.firstElementChild as HTMLElement | null;
    if (!section || name === null) pinned?.remove();
    else if (pinned?.dataset.section !== section.key) this.#pin.replaceChildren(this.#header(section, name));
  }

  /** A row that says the same already stays, so that a selection and the focus live on. */
  #replace(rows: HTMLElement[]): void {
    const known = new Map([...this.#block.children].map((row) => [(row as HTMLElement).dataset.row, row]));
    const kept = rows.map((row) => {
      const before = known.get(row.dataset.row);
      return before === row || before?.isEqualNode(row) ? (before as Element) : row;
    });
    const isSame =
      kept.length === this.#block.children.length && kept.every((row, at) => this.#block.children[at] === row);
    if (!isSame) this.#block.replaceChildren(...kept);
  }

  #rowsOf(section: Section, from: number, wanted: number, rows: HTMLElement[]): void {
    if (from < 0 && section.name !== null) rows.push(this.#header(section, section.name));
    if (!section.isOpen) return;
    for (let line = section.first + Math.max(0, from); line < section.end && rows.length < wanted; line += 1) {
      rows.push(this.#line(line));
    }
  }

  #header(section: Section, name: string): HTMLElement {
    const header = make("button", "log-head", name) as HTMLButtonElement;
    header.type = "button";
    header.style.height = `${HEADER}px`;
    header.dataset.section = section.key;
    header.dataset.row = `head ${section.key}`;
    header.dataset.state = section.state;
    header.setAttribute("aria-expanded", String(section.isOpen));
    header.append(make("span", "log-count", `${section.end - section.first} lines`));
    return header;
  }

  /** A line that is whole and looks as before is not made anew. */
  #line(index: number): HTMLElement {
    const known = this.#lines.get(index);
    const isWhole = index < this.#store.count - 1;
    const row = known ?? this.#newLine(index);
    if (isWhole) this.#drawn.set(index, row);
    return row;
  }

  #newLine(index: number): HTMLElement {
    const row = make("div", "log-row");
    const number = make("a", "log-number", String(index + 1)) as HTMLAnchorElement;
    number.href = `#L${index + 1}`;
    const text = make("span", "log-text");
    text.append(...paint(this.#store.line(index), this.needle));
    row.dataset.row = String(index);
    const { chosen } = this;
    if (chosen && index >= chosen.from && index <= chosen.to) row.classList.add("is-chosen");
    row.append(number, text);
    return row;
  }
}
