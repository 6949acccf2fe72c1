import type { LogGroup } from "./groups.ts";
import type { LogStore } from "./log-store.ts";

/**
 * The number of screen rows that each line takes. Without wrapping, a line takes one row. With wrapping, its number is
 * estimated from the line's bytes until the page draws and measures the line. A Fenwick tree holds the sums, so each
 * call takes log n steps.
 */
export class Heights {
  readonly #store: LogStore;
  #columns: number | null = null;
  #generation = 0;
  #count = 0;
  /**
   * A Fenwick tree. Line i is at place i + 1. The number of lines that a place sums, up to itself, is its lowest set
   * bit.
   */
  #sums = new Float64Array(1024);

  constructor(store: LogStore) {
    this.#store = store;
  }

  /** Adds the store's new lines. `columns` is the width at which lines wrap; null if they do not wrap. */
  update(columns: number | null): void {
    const { generation, count } = this.#store;
    if (columns !== this.#columns || generation !== this.#generation) this.#count = 0;
    this.#columns = columns;
    this.#generation = generation;
    if (columns === null || count === this.#count) return;
    const grown = this.#count - 1;
    if (grown >= 0) this.measured(grown, this.#estimate(grown, columns));
    while (this.#count < count) this.#append(this.#estimate(this.#count, columns));
  }

  #estimate(line: number, columns: number): number {
    return Math.max(1, Math.ceil((this.#store.start(line + 1) - this.#store.start(line)) / columns));
  }

  #append(rows: number): void {
    const place = this.#count + 1;
    if (place >= this.#sums.length) {
      const larger = new Float64Array(this.#sums.length * 2);
      larger.set(this.#sums);
      this.#sums = larger;
    }
    let sum = rows;
    for (let below = place - 1; below > place - (place & -place); below -= below & -below) sum += this.#at(below);
    this.#sums[place] = sum;
    this.#count = place;
  }

  #at(place: number): number {
    return this.#sums[place] ?? 0;
  }

  /** Returns the number of rows above this line. */
  above(line: number): number {
    if (this.#columns === null) return line;
    let sum = 0;
    for (let place = Math.min(line, this.#count); place > 0; place -= place & -place) sum += this.#at(place);
    return sum;
  }

  /** Returns the line that contains this row. */
  lineAt(row: number): number {
    if (this.#columns === null) return Math.floor(row);
    let place = 0;
    let remainingRows = row;
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.#count))); step >= 1; step /= 2) {
      if (place + step > this.#count || this.#at(place + step) > remainingRows) continue;
      place += step;
      remainingRows -= this.#at(place);
    }
    return place;
  }

  /** Sets the measured rows of a line. Returns whether the estimate was wrong. */
  measured(line: number, rows: number): boolean {
    if (this.#columns === null || line >= this.#count) return false;
    const change = rows - (this.above(line + 1) - this.above(line));
    if (change === 0) return false;
    for (let place = line + 1; place <= this.#count; place += place & -place) {
      this.#sums[place] = this.#at(place) + change;
    }
    return true;
  }
}

/** Lines without height, from `from` to before `to`. `rows` counts the rows of this part and of all parts above it. */
interface Hidden {
  from: number;
  to: number;
  rows: number;
}

/** The heights of lines, where lines in closed groups have no height. */
export class FoldedHeights extends Heights {
  #hidden: Hidden[] = [];

  /** Hides the content of closed groups, and the end marks of open groups. Callers must call it after each `update`. */
  hide(groups: readonly LogGroup[]): void {
    let rows = 0;
    this.#hidden = groups.flatMap(({ head, end, hasEnd, isOpen }) => {
      if (isOpen && !hasEnd) return [];
      const from = isOpen ? end - 1 : head + 1;
      rows += super.above(end) - super.above(from);
      return [{ from, to: end, rows }];
    });
  }

  override above(line: number): number {
    const at = this.#last(({ from }) => from < line);
    const part = this.#hidden[at];
    if (!part) return super.above(line);
    if (line >= part.to) return super.above(line) - part.rows;
    return super.above(part.from) - (this.#hidden[at - 1]?.rows ?? 0);
  }

  override lineAt(row: number): number {
    const at = this.#last(({ from }, index) => super.above(from) - (this.#hidden[index - 1]?.rows ?? 0) <= row);
    return super.lineAt(row + (this.#hidden[at]?.rows ?? 0));
  }

  /** Returns the next line that has a height. */
  after(line: number): number {
    const part = this.#hidden[this.#last(({ from }) => from <= line + 1)];
    return part && line + 1 < part.to ? part.to : line + 1;
  }

  /**
   * Returns the last index for which `holds` is true, or -1. If `holds` is true for a part, it is true for all parts
   * above.
   */
  #last(holds: (part: Hidden, index: number) => boolean): number {
    let low = 0;
    let high = this.#hidden.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const part = this.#hidden[middle];
      if (part && holds(part, middle)) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
