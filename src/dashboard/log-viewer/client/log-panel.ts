import { REFRESHED } from "../../shell/client/events.ts";
import { EarlierLines } from "./earlier-lines.ts";
import { feedLog } from "./log-feed.ts";
import { LogStore } from "./log-store.ts";
import { LogView } from "./log-view.ts";
import { fillToolbar } from "./toolbar.ts";

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
const followLineLinks = (view: LogView, store: LogStore, readAll: () => void): (() => boolean) => {
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

/** Shows the line that says why a step failed, else the last lines of the step. Returns whether one failed. */
const showFailure = (view: LogView, store: LogStore): boolean => {
  const error = document.querySelector<HTMLAnchorElement>(".excerpt .is-error a");
  const failed = document.querySelector('#steps > li[data-state="failed"]');
  const offset = Number(error?.hash.replace("#at-", ""));
  if (error && offset >= store.base && offset < store.size) view.show(store.lineAt(offset));
  else if (failed) view.showStep(failed.id, true);
  return failed !== null;
};

const startLog = (section: HTMLElement): void => {
  const lines = section.querySelector<HTMLElement>(".log-lines");
  const bar = section.querySelector(".log-bar");
  if (!lines || !bar) return;
  const store = new LogStore();
  const isLive = () => section.dataset.live === "true";
  const wasLive = isLive();
  const source = section.dataset.src ?? "";
  const attempt = Number(section.dataset.attempt);
  const view = new LogView(lines, store, source, isLive);
  lines.classList.toggle("is-steady", wasLive);
  let hasEnded = false;
  let hasShownLinked = location.hash === "";
  const grew = () => {
    if (!hasShownLinked && store.count > 0) hasShownLinked = showLinked();
    searchGrown();
    view.plan();
  };
  const complete = () => {
    if (hasEnded && store.base === 0) section.toggleAttribute("data-complete", true);
  };
  const earlier = new EarlierLines(store, view, `${source}?attempt=${attempt}`, () => {
    grew();
    complete();
  });
  const readAll = () => earlier.readAll();
  const searchGrown = fillToolbar(bar, store, view, readAll);
  bar.prepend(earlier.note);
  const showLinked = followLineLinks(view, store, readAll);
  const caughtUp = (pace: number) => {
    if (wasLive) view.watch();
    if (store.base > 0 && !wasLive && location.hash === "" && !showFailure(view, store)) view.showEnd();
    earlier.begin(pace);
  };
  const ended = () => {
    hasEnded = true;
    if (!hasShownLinked) showLinked();
    else if (!wasLive && location.hash === "" && store.base === 0) showFailure(view, store);
    complete();
    view.plan();
  };
  document.addEventListener(REFRESHED, () => view.plan());
  feedLog(source, attempt, wasLive, store, { grew, caughtUp, ended });
};

/** Shows the log as soon as the page has one: live, with steps that fold, and with search. */
export const showLogPanel = (): void => {
  let hasStarted = false;
  const start = () => {
    const section = document.getElementById("log");
    if (hasStarted || !section) return;
    hasStarted = true;
    startLog(section);
  };
  start();
  document.addEventListener(REFRESHED, start);
};
