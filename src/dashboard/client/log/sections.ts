import type { Heights } from "./heights.ts";
import type { LogStore } from "./log-store.ts";

export const ROW = 20;
export const HEADER = 32;

/** The part of a log that one step wrote, or what came before the first. */
export interface Section {
  key: string;
  name: string | null;
  state: string;
  first: number;
  end: number;
  isOpen: boolean;
  /** Pixels from the top of the log to its header. */
  top: number;
}

interface StepPart {
  key: string;
  name: string;
  state: string;
  offset: number;
}

/** The steps as the page lists them. */
export const stepsOfPage = (): StepPart[] =>
  [...document.querySelectorAll<HTMLElement>("#steps > li[data-offset]")].map(({ id, dataset }) => ({
    key: id,
    name: dataset.name ?? "",
    state: dataset.state ?? "",
    offset: Number(dataset.offset),
  }));

const headerOf = ({ name }: Section): number => (name === null ? 0 : HEADER);

export const heightOf = (section: Section, heights: Heights): number =>
  headerOf(section) + (section.isOpen ? (heights.above(section.end) - heights.above(section.first)) * ROW : 0);

type IsOpen = (key: string, state: string, name: string | null) => boolean;

/** Cuts the log at its steps. Pieces without a line are left out, except a step that is under way. */
export const cut = (store: LogStore, heights: Heights, steps: StepPart[], isOpen: IsOpen) => {
  const starts = steps.map(({ offset }) => store.lineAt(offset));
  const parts: [StepPart | null, number, number][] = steps.map((step, index) => [
    ...([step, starts[index] ?? 0, starts[index + 1] ?? store.count] as [StepPart, number, number]),
  ]);
  parts.unshift([null, 0, starts[0] ?? store.count]);
  const sections: Section[] = [];
  let top = 0;
  for (const [step, first, end] of parts) {
    if (end <= first && step?.state !== "running") continue;
    const name = step ? step.name : steps.length > 0 ? "Before the steps" : null;
    const { key, state } = step ?? { key: "before", state: "" };
    const section = { key, name, state, first, end, isOpen: isOpen(key, state, name), top };
    sections.push(section);
    top += heightOf(section, heights);
  }
  return { sections, height: top };
};

/** The section and the line in it that lie `y` pixels below the top; for its header, the line is null. */
export const rowAt = (sections: Section[], heights: Heights, y: number): { at: number; line: number | null } => {
  const at = sections.findLastIndex(({ top }) => top <= y);
  const section = sections[at];
  if (!section) return { at: 0, line: null };
  const below = y - section.top - headerOf(section);
  if (below < 0 || !section.isOpen) return { at, line: null };
  const line = heights.lineAt(heights.above(section.first) + below / ROW);
  return { at, line: Math.max(section.first, Math.min(section.end - 1, line)) };
};

/** Pixels from the top of the log to a line, or to the header. */
export const topOf = (section: Section, heights: Heights, line: number | null): number =>
  line === null
    ? section.top
    : section.top + headerOf(section) + (heights.above(line) - heights.above(section.first)) * ROW;
