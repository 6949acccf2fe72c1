import { Colours } from "./colours.ts";
import { Folds } from "./folds.ts";
import { Heights } from "./heights.ts";
import { type Chosen, headerRow, LineRows, make } from "./line-rows.ts";
import type { LogStore } from "./log-store.ts";
import { cut, HEADER, heightOf, ROW, rowAt, type Section, stepsOfPage, topOf } from "./sections.ts";

/** Browsers cannot lay out a page of any height: a longer log scrolls faster than the finger. */
const TALLEST = 8_000_000;
const SPARE = 15 * ROW;
/** Pixels from the end within which a scroll position counts as the end. */
const AT_END = 24;
/** Rows that wrap are measured only when they are drawn, which moves others into sight, which are measured. */
const MOST_PASSES = 6;

/** Where the top of what is in sight is to be, reckoned anew when the height of a row turns out to be another. */
type Place = () => number;

/** Draws the lines of a log that are in sight, folded by step, and nothing else. */
export class LogView {
  readonly scroller: HTMLElement;
  isFollowing: boolean;
  needle = "";
  chosen: Chosen | null = null;
  onFollow: () => void = () => {};
  readonly #folds: Folds;
  readonly #store: LogStore;
  readonly #isLive: () => boolean;
  readonly #space = make("div", "log-space");
  readonly #pin = make("div", "log-pin");
  readonly #block = make("div", "log-block");
  readonly #heights: Heights;
  readonly #colours: Colours;
  readonly #rows: LineRows;
  #sections: Section[] = [];
  #height = 0;
  /** Pixels that a character is wide, once that matters. */
  #letter = 0;
  #isPlanned = false;
  #wanted: Place | null = null;
  /** The line whose match is to be brought into sight, when it is drawn. */
  #sought: number | null = null;
  /** What was drawn last: the scroll position, and the pixels below the log's top that it stands for. */
  #drawn = { scrollTop: 0, y: 0 };

  constructor(scroller: HTMLElement, store: LogStore, source: string, isLive: () => boolean) {
    this.scroller = scroller;
    this.#store = store;
    this.#isLive = isLive;
    this.isFollowing = isLive();
    this.#folds = new Folds(store);
    this.#heights = new Heights(store);
    this.#colours = new Colours(store);
    this.#rows = new LineRows(store, this.#colours, source);
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

  /** All that was stored has been read, and more is to come. */
  watch(): void {
    this.#cut();
    this.#folds.watch(this.#sections);
  }

  /** Opens the step and brings the line into sight, with its match where something is searched. */
  show(line: number): void {
    this.#cut();
    const section = this.#sectionOf(line);
    if (!section) return;
    this.#folds.set(section.key, true);
    this.#sought = line;
    this.#go(() => this.#topOf(line) - this.scroller.clientHeight / 3);
  }

  /** Opens a step and brings its header to the top, or its last lines into sight. */
  showStep(key: string, atEnd = false): void {
    this.#folds.set(key, true);
    this.#go(() => {
      const section = this.#sections.find((candidate) => candidate.key === key);
      if (!section) return this.#drawn.y;
      return atEnd ? section.top + heightOf(section, this.#heights) - this.scroller.clientHeight : section.top;
    });
  }

  #go(place: Place): void {
    this.isFollowing = false;
    this.onFollow();
    this.#wanted = place;
    this.plan();
  }

  #sectionOf(line: number): Section | undefined {
    return this.#sections.find(({ first, end }) => line >= first && line < end);
  }

  #topOf(line: number): number {
    const section = this.#sectionOf(line);
    return section ? topOf(section, this.#heights, section.isOpen ? line : null) : 0;
  }

  get #scale(): number {
    const visible = this.scroller.clientHeight;
    return Math.max(1, (this.#height - visible) / Math.max(1, Math.min(this.#height, TALLEST) - visible));
  }

  /** Pixels below the log's top at which what is in sight begins. */
  get #y(): number {
    const { scrollTop } = this.scroller;
    return scrollTop === this.#drawn.scrollTop ? this.#drawn.y : scrollTop * this.#scale;
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const before = this.#drawn.scrollTop;
    const left = scrollHeight - scrollTop - clientHeight;
    if (this.isFollowing && scrollTop < before && left > 1) this.follow(false);
    else if (scrollTop > before && left < AT_END && this.#isLive()) this.follow(true);
    else if (scrollTop > before && left <= 1) this.#wanted = () => this.#height;
    this.plan();
  }

  #clicked(event: MouseEvent): void {
    const header = (event.target as Element).closest<HTMLElement>(".log-head");
    const section = this.#sections.find(({ key }) => key === header?.dataset.section);
    if (!header || !section) return;
    this.#folds.set(section.key, !section.isOpen);
    if (this.#pin.contains(header))
      this.#wanted = () => this.#sections.find(({ key }) => key === section.key)?.top ?? 0;
    this.plan();
  }

  /** What stands at the top stays there, whatever comes or grows above it. */
  #placeInSight(): Place {
    const y = this.#y;
    const { at, line } = rowAt(this.#sections, this.#heights, y);
    const section = this.#sections[at];
    if (y <= 0 || !section) return () => 0;
    const below = y - topOf(section, this.#heights, line);
    if (line !== null) return () => this.#topOf(line) + below;
    return () => (this.#sections.find(({ key }) => key === section.key)?.top ?? section.top) + below;
  }

  #cut(): void {
    const { sections, height } = cut(this.#store, this.#heights, stepsOfPage(), this.#folds.isOpen);
    this.#sections = sections;
    this.#height = height;
  }

  /** Characters of a row, where lines wrap. */
  #columns(): number | null {
    if (!this.scroller.classList.contains("is-wrapped")) return null;
    const text = this.#block.querySelector<HTMLElement>(".log-row .log-text");
    if (this.#letter === 0) {
      const probe = make("span", "", "0".repeat(100));
      this.#pin.append(probe);
      this.#letter = probe.getBoundingClientRect().width / 100;
      probe.remove();
    }
    return Math.max(1, Math.floor((this.scroller.clientWidth - (text?.offsetLeft ?? 0)) / this.#letter));
  }

  #draw(): void {
    const place = this.isFollowing ? () => this.#height : (this.#wanted ?? this.#placeInSight());
    this.#wanted = null;
    this.#heights.update(this.#columns());
    this.#cut();
    const begins = this.#sections.flatMap(({ key, first }) => (key === "before" ? [] : [first]));
    this.#colours.update(begins);
    this.#rows.begin(this.needle, this.chosen, begins);
    this.#block.style.setProperty("--digits", String(String(this.#store.count).length));
    let y = this.#drawAt(place());
    for (let pass = 1; pass < MOST_PASSES && this.#measure(); pass += 1) {
      this.#cut();
      y = this.#drawAt(place());
    }
    this.#pinStep(y);
    this.#seek();
  }

  /** Draws what is in sight where `top` is at the top, or as near to that as the log reaches. */
  #drawAt(top: number): number {
    const { scroller } = this;
    const y = Math.max(0, Math.min(top, this.#height - scroller.clientHeight));
    const from = rowAt(this.#sections, this.#heights, Math.max(0, y - SPARE));
    const rows: HTMLElement[] = [];
    let at = from.at;
    let line = from.line;
    for (let section = this.#sections[at]; section; section = this.#sections[++at], line = null) {
      const bottom = y + scroller.clientHeight + SPARE;
      if (section.top > bottom) break;
      if (line === null && section.name !== null) rows.push(headerRow(section, section.name));
      if (!section.isOpen) continue;
      const rowsBelow = (bottom - topOf(section, this.#heights, section.first)) / ROW;
      const last = this.#heights.lineAt(this.#heights.above(section.first) + Math.max(0, rowsBelow));
      for (line ??= section.first; line < section.end && line <= last; line += 1) rows.push(this.#rows.row(line));
    }
    this.#replace(rows);
    this.#space.style.height = `${Math.min(this.#height, TALLEST)}px`;
    const scrollTop = y / this.#scale;
    if (Math.abs(scroller.scrollTop - scrollTop) >= 1) scroller.scrollTop = scrollTop;
    this.#drawn = { scrollTop: scroller.scrollTop, y };
    const section = this.#sections[from.at];
    const blockTop = section ? topOf(section, this.#heights, from.line) : 0;
    this.#block.style.transform = `translateY(${scroller.scrollTop + blockTop - y}px)`;
    return y;
  }

  /** Takes the heights of wrapped rows from what is drawn. Gives whether one was not as reckoned. */
  #measure(): boolean {
    if (!this.scroller.classList.contains("is-wrapped")) return false;
    const wrong = [...this.#block.querySelectorAll<HTMLElement>(".log-row")].filter((row) =>
      this.#heights.measured(Number(row.dataset.row), Math.max(1, Math.round(row.offsetHeight / ROW))),
    );
    return wrong.length > 0;
  }

  /** The name of the step whose lines are at the top stays in sight. */
  #pinStep(y: number): void {
    const { at, line } = rowAt(this.#sections, this.#heights, y);
    const section = this.#sections[at];
    const pinned = this.#pin.firstElementChild as HTMLElement | null;
    const header = section && line !== null && section.name !== null ? headerRow(section, section.name) : null;
    if (!header) pinned?.remove();
    else if (pinned?.dataset.section !== section?.key) this.#pin.replaceChildren(header);
    else if (!pinned?.isEqualNode(header)) {
      pinned?.setAttribute("data-state", section?.state ?? "");
      pinned?.replaceChildren(...header.childNodes);
    }
  }

  /** Brings the match of the line that was sought into sight, wherever in its line it stands. */
  #seek(): void {
    const line = this.#sought;
    this.#sought = null;
    const row = line === null ? null : this.#block.querySelector<HTMLElement>(`[data-row="${line}"]`);
    const mark = row?.querySelector("mark")?.getBoundingClientRect();
    if (line === null || !row || !mark) return;
    const { scroller } = this;
    const seen = scroller.getBoundingClientRect();
    const left = mark.left - seen.left + scroller.scrollLeft;
    if (mark.left < seen.left || mark.right > seen.right) {
      scroller.scrollLeft = left < scroller.clientWidth / 2 ? 0 : left - scroller.clientWidth / 3;
    }
    if (mark.bottom <= seen.bottom && mark.top >= seen.top + HEADER) return;
    const within = mark.top - row.getBoundingClientRect().top;
    this.#go(() => this.#topOf(line) + within - scroller.clientHeight / 3);
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
}
