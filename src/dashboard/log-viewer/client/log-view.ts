import { Colours } from "./colours.ts";
import { headerRow, type LineRange, LineRows, LineTimes } from "./line-rows.ts";
import { LogCanvas } from "./log-canvas.ts";
import { HEADER_HEIGHT, LogLayout, ROW_HEIGHT } from "./log-layout.ts";
import type { LogStore } from "./log-store.ts";

/**
 * The maximum height of a log on the page, in pixels, because browsers limit the height of a page. In a taller log, one
 * pixel of scrolling moves more than one pixel of the log.
 */
const TALLEST = 8_000_000;
/** Pixels to draw above and below the visible part. */
const SPARE = 15 * ROW_HEIGHT;
/** The distance from the end, in pixels, within which a scroll position counts as the end. */
const AT_END = 24;
/**
 * The maximum number of drawings for one frame. The page measures a wrapped row after drawing it. A corrected height
 * reveals other rows, so the page draws again.
 */
const MOST_PASSES = 6;

/** Computes the top of the visible part, in pixels. The page calls it again after each correction of a row's height. */
type Position = () => number;

/** Shows a log with one foldable section for each step. Draws only the visible rows. */
export class LogView {
  readonly scroller: HTMLElement;
  isFollowing: boolean;
  /** The text of the search, in lower case. */
  needle = "";
  /** The lines in the address. */
  linked: LineRange | null = null;
  onFollow: () => void = () => {};
  readonly #store: LogStore;
  readonly #isLive: () => boolean;
  readonly #canvas: LogCanvas;
  readonly #layout: LogLayout;
  readonly #colours: Colours;
  readonly #rows: LineRows;
  readonly times: LineTimes;
  #isScheduled = false;
  /** The position to which the next frame scrolls; null if it does not scroll. */
  #target: Position | null = null;
  /** The line of the current match. */
  #matchLine: number | null = null;
  /** The line whose match the next frame scrolls to. */
  #matchToShow: number | null = null;
  /** The last frame: its scroll position, and the pixels of the log above the visible part. */
  #drawn = { scrollTop: 0, y: 0 };

  constructor(scroller: HTMLElement, store: LogStore, source: string, isLive: () => boolean) {
    this.scroller = scroller;
    this.#store = store;
    this.#isLive = isLive;
    this.isFollowing = isLive();
    this.#layout = new LogLayout(store);
    this.#colours = new Colours(store);
    this.times = new LineTimes(store, source);
    this.#rows = new LineRows(store, this.#colours, this.#layout.groups, this.times, source);
    this.#canvas = new LogCanvas(scroller);
    scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    scroller.addEventListener("click", (event) => this.#onClick(event));
    new ResizeObserver(() => this.plan()).observe(scroller);
  }

  /** Schedules a drawing for the next frame, once for any number of calls. */
  plan(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      this.#draw();
    });
  }

  follow(on: boolean): void {
    this.isFollowing = on;
    this.onFollow();
    this.plan();
  }

  /** Makes the log live, because the person has seen the stored part. New steps then stay open. */
  watch(): void {
    this.#split();
    this.#layout.watch();
  }

  /** Marks the text of the search. No match is current. */
  mark(needle: string): void {
    this.needle = needle;
    this.#matchLine = null;
    this.plan();
  }

  /** Makes a line's match the current one and scrolls to it. */
  showMatch(line: number): void {
    this.#matchLine = line;
    this.show(line);
  }

  /** Opens a line's step and group, and scrolls to the line, and to its match during a search. */
  show(line: number): void {
    this.#split();
    const section = this.#layout.sectionWith(line);
    if (!section) return;
    this.#layout.open(section.key, true);
    const group = this.#layout.groups.around(line);
    if (group) this.#layout.groups.open(group.head, true);
    this.#split();
    this.#matchToShow = line;
    this.#goTo(() => this.#layout.lineTop(line) - this.scroller.clientHeight / 3);
  }

  /** Opens a step and scrolls to its header, or to its last lines. */
  showStep(key: string, atEnd = false): void {
    this.#layout.open(key, true);
    this.#split();
    this.#goTo(() => {
      const section = this.#layout.sectionBy(key);
      if (!section) return this.#drawn.y;
      return atEnd ? section.top + this.#layout.sectionHeight(section) - this.scroller.clientHeight : section.top;
    });
  }

  #goTo(position: Position): void {
    this.isFollowing = false;
    this.onFollow();
    this.#target = position;
    this.plan();
  }

  /** Keeps the visible part in place after `added` lines were added before the first line. */
  keepPlace(added: number): void {
    const { at, line } = this.#layout.rowAt(this.#y);
    const section = this.#layout.sections[at];
    for (const { key, isOpen } of this.#layout.sections) this.#layout.open(key, isOpen);
    if (section && line !== null && !this.isFollowing) {
      const below = this.#y - this.#layout.topWithin(section, line);
      this.#target = () => this.#layout.lineTop(line + added) + below;
    }
    if (this.#matchLine !== null) this.#matchLine += added;
    this.plan();
  }

  /** Opens the last step and shows its last lines. */
  showEnd(): void {
    this.#split();
    const last = this.#layout.sections.at(-1);
    if (last) this.showStep(last.key, true);
  }

  /** Returns the lines of the step at the top of the visible part. */
  linesAtTop(): LineRange | null {
    const section = this.#layout.sections[this.#layout.rowAt(this.#y).at];
    return section ? { from: section.first, to: section.end - 1 } : null;
  }

  /** The pixels of the log that one pixel of the scroll bar moves. */
  get #scale(): number {
    const visible = this.scroller.clientHeight;
    return Math.max(1, (this.#layout.height - visible) / Math.max(1, Math.min(this.#layout.height, TALLEST) - visible));
  }

  /** The pixels of the log that are above the visible part. */
  get #y(): number {
    const { scrollTop } = this.scroller;
    return scrollTop === this.#drawn.scrollTop ? this.#drawn.y : scrollTop * this.#scale;
  }

  #onScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const before = this.#drawn.scrollTop;
    const below = scrollHeight - scrollTop - clientHeight;
    if (this.isFollowing && scrollTop < before && below > 1) this.follow(false);
    else if (scrollTop > before && below < AT_END && this.#isLive()) this.follow(true);
    else if (scrollTop > before && below <= 1) this.#target = () => this.#layout.height;
    this.plan();
  }

  #onClick(event: MouseEvent): void {
    const fold = (event.target as Element).closest<HTMLElement>(".log-fold");
    if (fold) this.#toggle(Number(fold.dataset.group));
    const header = (event.target as Element).closest<HTMLElement>(".log-head");
    const section = this.#layout.sectionBy(header?.dataset.section);
    if (!header || !section) return;
    this.#layout.open(section.key, !section.isOpen);
    if (header.closest(".log-pin")) this.#target = () => this.#layout.sectionBy(section.key)?.top ?? 0;
    this.plan();
  }

  #toggle(head: number): void {
    this.#layout.groups.open(head, this.#layout.groups.at(head)?.isOpen === false);
    this.plan();
  }

  /** Returns a position that keeps the top row in place while rows above it are added or grow. */
  #currentPosition(): Position {
    const y = this.#y;
    const { at, line } = this.#layout.rowAt(y);
    const section = this.#layout.sections[at];
    if (y <= 0 || !section) return () => 0;
    const below = y - this.#layout.topWithin(section, line);
    if (line !== null) return () => this.#layout.lineTop(line) + below;
    return () => (this.#layout.sectionBy(section.key)?.top ?? section.top) + below;
  }

  #split(): void {
    if (this.#layout.split()) this.plan();
  }

  #draw(): void {
    const position = this.isFollowing ? () => this.#layout.height : (this.#target ?? this.#currentPosition());
    this.#target = null;
    const columns = this.#canvas.columns();
    this.#layout.heights.update(columns);
    this.#split();
    const begins = this.#layout.sections.flatMap(({ key, first }) => (key === "before" ? [] : [first]));
    if (this.#colours.update(begins)) this.plan();
    const { needle, linked } = this;
    this.#rows.begin({ needle, linked, matchLine: this.#matchLine, sections: this.#layout.sections });
    void this.times.update().then((isOther) => isOther && this.plan());
    this.scroller.style.setProperty("--digits", String(String(this.#store.count).length));
    let y = this.#drawAt(position());
    for (let pass = 1; columns !== null && pass < MOST_PASSES && this.#measure(); pass += 1) {
      this.#split();
      y = this.#drawAt(position());
    }
    this.#pinHeader(y);
    this.#showMatch();
  }

  /**
   * Draws the log with `top` at the top of the visible part, or as close to it as the log allows. Returns the actual
   * top.
   */
  #drawAt(top: number): number {
    const y = Math.max(0, Math.min(top, this.#layout.height - this.scroller.clientHeight));
    const from = this.#layout.rowAt(Math.max(0, y - SPARE));
    this.#canvas.setRows(this.#rowsFrom(from, y + this.scroller.clientHeight + SPARE));
    const section = this.#layout.sections[from.at];
    const rowsTop = section ? this.#layout.topWithin(section, from.line) : 0;
    const scrollTop = this.#canvas.place(Math.min(this.#layout.height, TALLEST), y / this.#scale, rowsTop - y);
    this.#drawn = { scrollTop, y };
    return y;
  }

  /** Creates the rows from a header or line on, down to `bottom`, which is in pixels. */
  #rowsFrom({ at, line }: ReturnType<LogLayout["rowAt"]>, bottom: number): HTMLElement[] {
    const rows: HTMLElement[] = [];
    for (let section = this.#layout.sections[at]; section; section = this.#layout.sections[++at], line = null) {
      if (section.top > bottom) break;
      if (line === null && section.name !== null) rows.push(headerRow(section, section.name));
      if (!section.isOpen) continue;
      const rowsBelow = (bottom - this.#layout.topWithin(section, section.first)) / ROW_HEIGHT;
      const last = this.#layout.heights.lineAt(this.#layout.heights.above(section.first) + Math.max(0, rowsBelow));
      for (line ??= section.first; line < section.end && line <= last; line = this.#layout.heights.after(line))
        rows.push(this.#rows.row(line));
    }
    return rows;
  }

  /** Measures the drawn rows. Returns whether an estimated height was wrong. */
  #measure(): boolean {
    const wrong = [...this.scroller.querySelectorAll<HTMLElement>(".log-row")].filter((row) =>
      this.#layout.heights.measured(Number(row.dataset.row), Math.max(1, Math.round(row.offsetHeight / ROW_HEIGHT))),
    );
    return wrong.length > 0;
  }

  /** Keeps a step's header visible while the step's lines are at the top. */
  #pinHeader(y: number): void {
    const { at, line } = this.#layout.rowAt(y);
    const section = this.#layout.sections[at];
    this.#canvas.pin(section && line !== null && section.name !== null ? headerRow(section, section.name) : null);
  }

  /** Scrolls to the match in the current line, including sideways or within a wrapped line. */
  #showMatch(): void {
    const line = this.#matchToShow;
    this.#matchToShow = null;
    const row = line === null ? null : this.scroller.querySelector(`[data-row="${line}"]`);
    const mark = row?.querySelector("mark")?.getBoundingClientRect();
    if (line === null || !row || !mark) return;
    const { scroller } = this;
    const visible = scroller.getBoundingClientRect();
    const distance = mark.left - visible.left + scroller.scrollLeft;
    if (mark.left < visible.left || mark.right > visible.right) {
      scroller.scrollLeft = distance < scroller.clientWidth / 2 ? 0 : distance - scroller.clientWidth / 3;
    }
    if (mark.bottom <= visible.bottom && mark.top >= visible.top + HEADER_HEIGHT) return;
    const within = mark.top - row.getBoundingClientRect().top;
    this.#goTo(() => this.#layout.lineTop(line) + within - scroller.clientHeight / 3);
  }
}
