import type { LogStore } from "./log-store.ts";

/**
 * How many rows of the screen each line takes: one without wrapping. With wrapping it is estimated from the line's
 * bytes until the line is drawn and measured. A Fenwick tree holds the sums, so that each call takes log n steps.
 */
export class Heights {
  readonly #store: LogStore;
  #columns: number | null = null;
  #generation = 0;
  #count = 0;
  /** Fenwick tree: line i is at place i + 1. A place sums the lines up to it, as many as its lowest set bit. */
  #sums = new Float64Array(1024);

  constructor(store: LogStore) {
    this.#store = store;
  }

  /** Adds the lines that are new in the store. `columns` is the width at which lines wrap, null for no wrapping. */
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

  /** The rows of all lines before this one. */
  above(line: number): number {
    if (this.#columns === null) return line;
    let sum = 0;
    for (let place = Math.min(line, this.#count); place > 0; place -= place & -place) sum += this.#at(place);
    return sum;
  }

  /** The line that this row belongs to. */
  lineAt(row: number): number {
    if (this.#columns === null) return Math.floor(row);
    let place = 0;
    let left = row;
    for (let step = 2 ** Math.floor(Math.log2(Math.max(1, this.#count))); step >= 1; step /= 2) {
      if (place + step > this.#count || this.#at(place + step) > left) continue;
      place += step;
      left -= this.#at(place);
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
