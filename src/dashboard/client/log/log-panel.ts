import { REFRESHED } from "../events.ts";
import { EarlierLines } from "./earlier-lines.ts";
import { followLineLinks } from "./line-links.ts";
import { feedLog } from "./log-feed.ts";
import { LogStore } from "./log-store.ts";
import { LogView } from "./log-view.ts";
import { fillToolbar } from "./toolbar.ts";

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
