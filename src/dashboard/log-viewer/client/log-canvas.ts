import { createElement } from "../../shell/client/elements.ts";

/** The elements that show a log: a space as tall as the log, the drawn rows in it, and a step's header on top. */
export class LogCanvas {
  readonly #scroller: HTMLElement;
  readonly #space = createElement("div", "log-space");
  readonly #top = createElement("div", "log-pin");
  readonly #rows = createElement("div", "log-block");
  /** The width of a character in pixels; 0 before the first measurement. */
  #characterWidth = 0;

  constructor(scroller: HTMLElement) {
    this.#scroller = scroller;
    this.#space.append(this.#top, this.#rows);
  }

  /** Returns the number of characters in a row if lines wrap; otherwise null. */
  columns(): number | null {
    if (!this.#scroller.classList.contains("is-wrapped")) return null;
    const text = this.#rows.querySelector<HTMLElement>(".log-row .log-text");
    if (this.#characterWidth === 0) {
      const sample = createElement("span", "", "0".repeat(100));
      this.#top.append(sample);
      this.#characterWidth = sample.getBoundingClientRect().width / 100;
      sample.remove();
    }
    return Math.max(1, Math.floor((this.#scroller.clientWidth - (text?.offsetLeft ?? 0)) / this.#characterWidth));
  }

  /** Replaces the page's initial content once there are rows to show. */
  #begin(): void {
    if (!this.#space.isConnected) this.#scroller.replaceChildren(this.#space);
  }

  /** Shows these rows. Keeps shown rows that equal the new ones, with their selection and focus. */
  setRows(rows: HTMLElement[]): void {
    if (rows.length > 0) this.#begin();
    const drawnRows = this.#rows.children;
    const rowsByLine = new Map([...drawnRows].map((row) => [(row as HTMLElement).dataset.row, row]));
    const nextRows = rows.map((row) => {
      const before = rowsByLine.get(row.dataset.row);
      return before === row || before?.isEqualNode(row) ? (before as Element) : row;
    });
    const isSame = nextRows.length === drawnRows.length && nextRows.every((row, at) => drawnRows[at] === row);
    if (!isSame) this.#rows.replaceChildren(...nextRows);
  }

  /**
   * Sets the log's height, scrolls the log, and puts the rows `offset` pixels below the top of the visible part.
   * Returns the scroll position that the browser actually set.
   */
  place(height: number, scrollTop: number, offset: number): number {
    this.#space.style.height = `${height}px`;
    if (Math.abs(this.#scroller.scrollTop - scrollTop) >= 1) this.#scroller.scrollTop = scrollTop;
    const top = this.#scroller.scrollTop;
    this.#rows.style.transform = `translateY(${top + offset}px)`;
    return top;
  }

  /**
   * Pins this header to the top of the visible part; null removes the pinned header. An equal header keeps the focus.
   */
  pin(header: HTMLElement | null): void {
    const pinned = this.#top.firstElementChild as HTMLElement | null;
    if (!header) pinned?.remove();
    else if (pinned?.dataset.section !== header.dataset.section) this.#top.replaceChildren(header);
    else if (!pinned?.isEqualNode(header)) {
      pinned?.setAttribute("data-state", header.dataset.state ?? "");
      pinned?.replaceChildren(...header.childNodes);
    }
  }
}
