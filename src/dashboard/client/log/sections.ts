import type { LogStore } from "./store.ts";

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
    ...{ key: id, name: dataset.name ?? "", state: dataset.state ?? "" },
    offset: Number(dataset.offset),
  }));

const headerOf = ({ name }: Section): number => (name === null ? 0 : HEADER);

export const heightOf = (section: Section): number =>
  headerOf(section) + (section.isOpen ? (section.end - section.first) * ROW : 0);

/** Cuts the log at its steps. Pieces without a line are left out, except a step that is under way. */
export const cut = (store: LogStore, steps: StepPart[], isOpen: (part: StepPart | null, lines: number) => boolean) => {
  const starts = steps.map(({ offset }) => store.lineAt(offset));
  const parts: [StepPart | null, number, number][] = steps.map((step, index) => [
    ...([step, starts[index] ?? 0, starts[index + 1] ?? store.count] as [StepPart, number, number]),
  ]);
  parts.unshift([null, 0, starts[0] ?? store.count]);
  const sections: Section[] = [];
  let top = 0;
  for (const [step, first, end] of parts) {
    if (end <= first && step?.state !== "running") continue;
    const open = isOpen(step, end - first);
    const name = step ? step.name : steps.length > 0 ? "Before the steps" : null;
    const section = { key: step?.key ?? "before", name, state: step?.state ?? "", first, end, isOpen: open, top };
    sections.push(section);
    top += heightOf(section);
  }
  return { sections, height: top };
};

/** The section and the place in it that lie `y` pixels below the top: its header (-1) or a line. */
export const rowAt = (sections: Section[], y: number): { section: number; line: number } => {
  let section = sections.findIndex((candidate) => candidate.top + heightOf(candidate) > y);
  if (section === -1) section = Math.max(0, sections.length - 1);
  const found = sections[section];
  if (!found) return { section: 0, line: 0 };
  const below = y - found.top - headerOf(found);
  return { section, line: below < 0 ? -1 : Math.min(found.end - found.first, Math.floor(below / ROW)) };
};

/** Pixels from the top of the log to a line. */
export const topOf = (section: Section, line: number): number =>
  section.top + headerOf(section) + (line - section.first) * ROW;
