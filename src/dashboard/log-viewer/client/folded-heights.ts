import type { LogGroup } from "./groups.ts";
import { Heights } from "./heights.ts";

/** Lines without height: from `from` up to, but not including, `to`. `rows` are those of this part and all above it. */
interface Hidden {
  from: number;
  to: number;
  rows: number;
}

/** The heights of lines, where the lines of closed groups have none. */
export class FoldedHeights extends Heights {
  #hidden: Hidden[] = [];

  /** Hides what is in closed groups, and the ends of open ones. Call it again after each `update`. */
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

  /** The next line that has a height. */
  after(line: number): number {
    const part = this.#hidden[this.#last(({ from }) => from <= line + 1)];
    return part && line + 1 < part.to ? part.to : line + 1;
  }

  /** The index of the last part that this holds for, as it does for all above it; -1 where there is none. */
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
