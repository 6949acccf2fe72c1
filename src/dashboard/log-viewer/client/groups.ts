import type { LogStore } from "./log-store.ts";

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const GROUP = ascii("::group::");
const END = ascii("::endgroup::");
const TITLE = ascii("--- ");
/** The text after a file's first line in diff output. That first line is not a group's title. */
const DIFF = ascii("+++ ");

/** The maximum number of foldable groups in one log. Lines after the last group do not fold. */
export const MOST_GROUPS = 10_000;
/** The maximum number of lines to read at once. A larger number would block the browser. */
const LINES_AT_ONCE = 50_000;

interface Mark {
  line: number;
  kind: "group" | "end" | "title";
}

/**
 * Lines that fold away under a head. `end` is the index after the last line. If `hasEnd`, the last line is
 * `::endgroup::`.
 */
export interface LogGroup {
  head: number;
  end: number;
  hasEnd: boolean;
  title: string;
  isOpen: boolean;
}

/**
 * The groups that steps print: from `::group::TITLE` to `::endgroup::`, and from `--- TITLE` on. Each group ends where
 * the next group begins or where its step ends. `::group::` groups are closed at first, unless they have not ended.
 */
export class Groups {
  readonly #store: LogStore;
  readonly #set = new Map<number, boolean>();
  #generation = 0;
  #scanned = 0;
  #marks: Mark[] = [];
  #groups: LogGroup[] = [];
  #basis = "";
  /** Increases with each change. */
  version = 0;

  constructor(store: LogStore) {
    this.#store = store;
  }

  get all(): readonly LogGroup[] {
    return this.#groups;
  }

  /**
   * Reads new lines. `begins` are the first lines of the steps, in ascending order. Returns whether there are more
   * lines to read.
   */
  update(begins: number[]): boolean {
    const { generation, count } = this.#store;
    if (generation !== this.#generation) this.#forget(generation);
    const until = this.#scanned + LINES_AT_ONCE;
    while (this.#scanned < until && this.#store.isWhole(this.#scanned) && this.#read(this.#scanned)) this.#scanned += 1;
    const isBehind = this.#scanned === until;
    const isOpenEnded = this.#marks.length > 0 && this.#marks.at(-1)?.kind !== "end";
    const basis = `${begins} ${this.#marks.length} ${isOpenEnded ? count : 0} ${generation}`;
    if (basis === this.#basis) return isBehind;
    this.#basis = basis;
    this.#groups = this.#make(begins);
    this.version += 1;
    return isBehind;
  }

  #forget(generation: number): void {
    this.#generation = generation;
    this.#scanned = 0;
    this.#marks = [];
    this.#set.clear();
  }

  /** Reads a line. Returns false if the meaning of the line depends on the next line, which has not arrived yet. */
  #read(line: number): boolean {
    const store = this.#store;
    if (this.#marks.length >= 2 * MOST_GROUPS) return true;
    if (store.begins(line, GROUP)) this.#marks.push({ line, kind: "group" });
    else if (store.begins(line, END)) this.#marks.push({ line, kind: "end" });
    else if (store.begins(line, TITLE)) {
      if (!store.isWhole(line + 1)) return false;
      if (!store.begins(line + 1, DIFF)) this.#marks.push({ line, kind: "title" });
    }
    return true;
  }

  #make(begins: number[]): LogGroup[] {
    const groups: LogGroup[] = [];
    const steps = new Set(begins);
    let step = 0;
    for (const [index, { line, kind }] of this.#marks.entries()) {
      if (kind === "end" || steps.has(line)) continue;
      while (step < begins.length && (begins[step] ?? 0) <= line) step += 1;
      const endOfStep = begins[step] ?? this.#store.count;
      const next = this.#marks[index + 1];
      const isEnded = next?.kind === "end" && next.line < endOfStep;
      const end = Math.min(endOfStep, next ? next.line + (isEnded ? 1 : 0) : this.#store.count);
      if (end <= line + 1 || groups.length === MOST_GROUPS) continue;
      const isFinished = next !== undefined && next.line < endOfStep;
      const isOpen = this.#set.get(line) ?? (kind === "title" || !isFinished);
      groups.push({ head: line, end, hasEnd: isEnded, title: this.#readTitle(line, kind), isOpen });
    }
    return groups;
  }

  #readTitle(line: number, kind: "group" | "title"): string {
    const length = (kind === "group" ? GROUP : TITLE).length;
    return this.#store.line(line).slice(length).trim() || "Group";
  }

  /** Returns the group with this line as its head. */
  at(line: number): LogGroup | undefined {
    const group = this.#groups[this.#before(line)];
    return group?.head === line ? group : undefined;
  }

  /** Returns the group that contains the line below its head. */
  around(line: number): LogGroup | undefined {
    const group = this.#groups[this.#before(line)];
    return group && line > group.head && line < group.end ? group : undefined;
  }

  /** Returns the index of the last group whose head is at or above the line; -1 if there is no such group. */
  #before(line: number): number {
    let low = 0;
    let high = this.#groups.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#groups[middle]?.head ?? 0) <= line) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  open(head: number, isOpen: boolean): void {
    const group = this.at(head);
    this.#set.set(head, isOpen);
    if (!group || group.isOpen === isOpen) return;
    group.isOpen = isOpen;
    this.version += 1;
  }
}
