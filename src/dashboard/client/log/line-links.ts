import type { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";

const rangeOf = (hash: string, store: LogStore): { from: number; to: number } | null => {
  const [, offset] = /^#at-(\d+)$/.exec(hash) ?? [];
  if (offset) {
    const isHere = Number(offset) >= store.base && Number(offset) < store.size;
    const line = isHere ? store.lineAt(Number(offset)) : store.count;
    return { from: line, to: line };
  }
  if (store.base > 0) return null;
  const [, first, last] = /^#L(\d+)(?:-L(\d+))?$/.exec(hash) ?? [];
  if (!first) return null;
  const ends = [Number(first) - 1, Number(last ?? first) - 1];
  return { from: Math.min(...ends), to: Math.max(...ends) };
};

/**
 * Marks the lines of the address (`#L118`, `#L118-L130`, `#at-` and the byte of a line) and scrolls to them, also when
 * it changes. Links to steps scroll the log to the step. Returns a function that scrolls there now, and whether there was such a place.
 */
export const followLineLinks = (view: LogView, store: LogStore, readAll: () => void): (() => boolean) => {
  const showLinked = (): boolean => {
    if (store.base > 0 && location.hash !== "") readAll();
    view.linked = rangeOf(location.hash, store);
    if (view.linked && view.linked.from < store.count) view.show(view.linked.from);
    else if (/^#(?:step-\d+|before)$/.test(location.hash)) view.showStep(location.hash.slice(1));
    else return false;
    return true;
  };
  addEventListener("hashchange", showLinked);
  document.addEventListener("click", (event) => {
    const step = (event.target as Element).closest<HTMLAnchorElement>("a.step, .excerpt a");
    if (step?.hash === location.hash) showLinked();
  });
  view.scroller.addEventListener("click", (event) => {
    const number = (event.target as Element).closest<HTMLAnchorElement>("a.log-number");
    if (!number || !event.shiftKey || !view.linked) return;
    event.preventDefault();
    const line = Number(number.hash.slice(2)) - 1;
    const ends = [view.linked.from, line].sort((left, right) => left - right);
    location.hash = `#L${(ends[0] ?? 0) + 1}-L${(ends[1] ?? 0) + 1}`;
  });
  return showLinked;
};
