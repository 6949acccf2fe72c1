import type { Heights } from "./heights.ts";
import type { LogStore } from "./log-store.ts";

export const ROW_HEIGHT = 20;
export const HEADER_HEIGHT = 32;

/** The lines of one step, or those before the first step. */
export interface StepSection {
  key: string;
  name: string | null;
  state: string;
  startedAt: string;
  first: number;
  end: number;
  isOpen: boolean;
  /** Pixels from the top of the log to its header. */
  top: number;
}

/** A step, or what comes before the first, as the page lists it. */
interface StepPart {
  key: string;
  name: string;
  state: string;
  offset: number;
  /** ISO 8601, or empty. */
  startedAt: string;
}

const partOf = ({ id, dataset }: HTMLElement): StepPart => ({
  key: id,
  name: dataset.name ?? "",
  state: dataset.state ?? "",
  offset: Number(dataset.offset ?? 0),
  startedAt: dataset.startedAt ?? "",
});

/** The steps as the page lists them. */
export const stepsOfPage = (): StepPart[] =>
  [...document.querySelectorAll<HTMLElement>("#steps > li[data-offset]")].map(partOf);

/** What an agent writes before the first step: it fetches the commit. */
const beforeSteps = (steps: StepPart[]): Omit<StepPart, "name"> & { name: string | null } => {
  const row = document.querySelector<HTMLElement>("#steps > #before");
  const before = row ? partOf(row) : { key: "before", name: "Before the steps", state: "", offset: 0, startedAt: "" };
  return steps.length > 0 ? before : { ...before, name: null };
};

const headerHeight = ({ name }: StepSection): number => (name === null ? 0 : HEADER_HEIGHT);

export const heightOf = (section: StepSection, heights: Heights): number =>
  headerHeight(section) +
  (section.isOpen ? (heights.above(section.end) - heights.above(section.first)) * ROW_HEIGHT : 0);

type IsOpen = (key: string, state: string, name: string | null) => boolean;

/** Splits the log at its steps. Sections without lines are left out, except those of running steps. */
export const splitIntoSections = (store: LogStore, heights: Heights, steps: StepPart[], isOpen: IsOpen) => {
  const parts = [beforeSteps(steps), ...steps];
  const starts = parts.map(({ offset }) => store.lineAt(offset));
  const sections: StepSection[] = [];
  let top = 0;
  for (const [index, { key, name, state, startedAt }] of parts.entries()) {
    const first = starts[index] ?? 0;
    const end = starts[index + 1] ?? store.count;
    if (end <= first && state !== "running") continue;
    const section = { key, name, state, startedAt, first, end, isOpen: isOpen(key, state, name), top };
    sections.push(section);
    top += heightOf(section, heights);
  }
  return { sections, height: top };
};

/** The section and the line `y` pixels below the top of the log. The line is null when a header is there. */
export const rowAt = (sections: StepSection[], heights: Heights, y: number): { at: number; line: number | null } => {
  const at = sections.findLastIndex(({ top }) => top <= y);
  const section = sections[at];
  if (!section) return { at: 0, line: null };
  const below = y - section.top - headerHeight(section);
  if (below < 0 || !section.isOpen) return { at, line: null };
  const line = heights.lineAt(heights.above(section.first) + below / ROW_HEIGHT);
  return { at, line: Math.max(section.first, Math.min(section.end - 1, line)) };
};

/** Pixels from the top of the log to a line, or to the header when `line` is null. */
export const topOf = (section: StepSection, heights: Heights, line: number | null): number =>
  line === null
    ? section.top
    : section.top + headerHeight(section) + (heights.above(line) - heights.above(section.first)) * ROW_HEIGHT;

/** In a log of up to this many lines, every step is open at first. */
const SHORT = 200;

/** Which steps are open: as the person left them; else as this page showed them; else those that failed or run. */
export class Folds {
  readonly #store: LogStore;
  readonly #open = new Map<string, boolean>();
  #isWatched = false;

  constructor(store: LogStore) {
    this.#store = store;
  }

  set(key: string, isOpen: boolean): void {
    this.#open.set(key, isOpen);
  }

  /** From now on the log is live. Steps that are open or begin stay open when they end and the log grows. */
  watch(sections: StepSection[]): void {
    for (const { key, name, isOpen } of sections) if (name !== null && !this.#open.has(key)) this.set(key, isOpen);
    this.#isWatched = true;
  }

  readonly isOpen = (key: string, state: string, name: string | null): boolean => {
    if (name === null) return true;
    if (this.#isWatched && !this.#open.has(key)) this.set(key, true);
    return this.#open.get(key) ?? (this.#store.count <= SHORT || state === "failed" || state === "running");
  };
}
