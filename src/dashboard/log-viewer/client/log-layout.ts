import { Groups } from "./groups.ts";
import { FoldedHeights } from "./heights.ts";
import type { LogStore } from "./log-store.ts";

export const ROW_HEIGHT = 20;
export const HEADER_HEIGHT = 32;

/** The lines of one step, or the lines before the first step. */
export interface StepSection {
  key: string;
  name: string | null;
  state: string;
  startedAt: string;
  first: number;
  end: number;
  isOpen: boolean;
  /** The pixels from the top of the log to the section's header. */
  top: number;
}

/** A step, or the part before the first step, as the page lists it. */
interface StepPart {
  key: string;
  name: string;
  state: string;
  offset: number;
  /** The start in ISO 8601, or an empty text. */
  startedAt: string;
}

const readPart = ({ id, dataset }: HTMLElement): StepPart => ({
  key: id,
  name: dataset.name ?? "",
  state: dataset.state ?? "",
  offset: Number(dataset.offset ?? 0),
  startedAt: dataset.startedAt ?? "",
});

/** Reads the steps from the page's list. */
const readSteps = (): StepPart[] =>
  [...document.querySelectorAll<HTMLElement>("#steps > li[data-offset]")].map(readPart);

/** Returns the part before the first step. The agent fetches the commit there. */
const beforeSteps = (steps: StepPart[]): Omit<StepPart, "name"> & { name: string | null } => {
  const row = document.querySelector<HTMLElement>("#steps > #before");
  const before = row ? readPart(row) : { key: "before", name: "Before the steps", state: "", offset: 0, startedAt: "" };
  return steps.length > 0 ? before : { ...before, name: null };
};

/** The number of lines up to which a log's steps are all open at first. */
const SHORT = 200;

const headerHeight = ({ name }: StepSection): number => (name === null ? 0 : HEADER_HEIGHT);

/** The places of a log's steps, groups and lines, in pixels from the log's top, and which steps and groups are open. */
export class LogLayout {
  readonly heights: FoldedHeights;
  readonly groups: Groups;
  sections: StepSection[] = [];
  /** The height of the whole log in pixels. */
  height = 0;
  readonly #store: LogStore;
  /** The steps that a person opened or closed, by key. */
  readonly #opened = new Map<string, boolean>();
  #isWatched = false;

  constructor(store: LogStore) {
    this.#store = store;
    this.heights = new FoldedHeights(store);
    this.groups = new Groups(store);
  }

  /**
   * Splits the log at the page's steps. Omits sections without lines, except those of running steps. Returns whether
   * there are more lines to search for groups.
   */
  split(): boolean {
    const steps = readSteps();
    const isBehind = this.groups.update(steps.map(({ offset }) => this.#store.lineAt(offset)));
    this.heights.hide(this.groups.all);
    const parts = [beforeSteps(steps), ...steps];
    const starts = parts.map(({ offset }) => this.#store.lineAt(offset));
    this.sections = [];
    this.height = 0;
    for (const [index, { key, name, state, startedAt }] of parts.entries()) {
      const first = starts[index] ?? 0;
      const end = starts[index + 1] ?? this.#store.count;
      if (end <= first && state !== "running") continue;
      const isOpen = this.#isOpen(key, state, name);
      const section = { key, name, state, startedAt, first, end, isOpen, top: this.height };
      this.sections.push(section);
      this.height += this.sectionHeight(section);
    }
    return isBehind;
  }

  /**
   * Reports whether a step is open. A person's choice counts first, then the page's, and otherwise the step is open if
   * it failed or runs.
   */
  #isOpen(key: string, state: string, name: string | null): boolean {
    if (name === null) return true;
    if (this.#isWatched && !this.#opened.has(key)) this.open(key, true);
    return this.#opened.get(key) ?? (this.#store.count <= SHORT || state === "failed" || state === "running");
  }

  /** Opens or closes a step. */
  open(key: string, isOpen: boolean): void {
    this.#opened.set(key, isOpen);
  }

  /** Makes the log live. Open steps and new steps then stay open when they end and when the log grows. */
  watch(): void {
    for (const { key, name, isOpen } of this.sections)
      if (name !== null && !this.#opened.has(key)) this.open(key, isOpen);
    this.#isWatched = true;
  }

  sectionBy(key: string | undefined): StepSection | undefined {
    return this.sections.find((section) => section.key === key);
  }

  sectionWith(line: number): StepSection | undefined {
    return this.sections.find(({ first, end }) => line >= first && line < end);
  }

  sectionHeight(section: StepSection): number {
    const { first, end, isOpen } = section;
    return headerHeight(section) + (isOpen ? (this.heights.above(end) - this.heights.above(first)) * ROW_HEIGHT : 0);
  }

  /** Returns the section and the line `y` pixels below the top of the log. The line is null if a header is there. */
  rowAt(y: number): { at: number; line: number | null } {
    const at = this.sections.findLastIndex(({ top }) => top <= y);
    const section = this.sections[at];
    if (!section) return { at: 0, line: null };
    const below = y - section.top - headerHeight(section);
    if (below < 0 || !section.isOpen) return { at, line: null };
    const line = this.heights.lineAt(this.heights.above(section.first) + below / ROW_HEIGHT);
    return { at, line: Math.max(section.first, Math.min(section.end - 1, line)) };
  }

  /** Returns the pixels from the top of the log to a section's line, or to its header if `line` is null. */
  topWithin(section: StepSection, line: number | null): number {
    if (line === null) return section.top;
    const rows = this.heights.above(line) - this.heights.above(section.first);
    return section.top + headerHeight(section) + rows * ROW_HEIGHT;
  }

  /** Returns the pixels from the top of the log to a line, or to its step's header if the step is closed. */
  lineTop(line: number): number {
    const section = this.sectionWith(line);
    return section ? this.topWithin(section, section.isOpen ? line : null) : 0;
  }
}
