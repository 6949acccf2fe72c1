import type { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";

const rangeOf = (hash: string): { from: number; to: number } | null => {
  const [, first, last] = /^#L(\d+)(?:-L(\d+))?$/.exec(hash) ?? [];
  if (!first) return null;
  const ends = [Number(first) - 1, Number(last ?? first) - 1];
  return { from: Math.min(...ends), to: Math.max(...ends) };
};

/** Keeps the lines of the address chosen: `#L118`, `#L118-L130`; and makes steps of the page lead into the log. */
export const watchAddress = (view: LogView, store: LogStore): { arrive(): boolean } => {
  const arrive = (): boolean => {
    view.chosen = rangeOf(location.hash);
    if (view.chosen && view.chosen.from < store.count) view.show(view.chosen.from);
    else if (location.hash.startsWith("#step-")) view.showStep(location.hash.slice(1));
    else return false;
    return true;
  };
  addEventListener("hashchange", arrive);
  document.addEventListener("click", (event) => {
    const step = (event.target as Element).closest<HTMLAnchorElement>("a.step");
    if (step?.hash === location.hash) arrive();
  });
  view.scroller.addEventListener("click", (event) => {
    const number = (event.target as Element).closest<HTMLAnchorElement>("a.log-number");
    if (!number || !event.shiftKey || !view.chosen) return;
    event.preventDefault();
    const line = Number(number.hash.slice(2)) - 1;
    const ends = [view.chosen.from, line].sort((left, right) => left - right);
    location.hash = `#L${(ends[0] ?? 0) + 1}-L${(ends[1] ?? 0) + 1}`;
  });
  return { arrive };
};
