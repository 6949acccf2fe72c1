import { REFRESHED } from "../events.ts";
import { followLineLinks } from "./line-links.ts";
import { feedLog } from "./log-feed.ts";
import { LogStore } from "./log-store.ts";
import { LogView } from "./log-view.ts";
import { fillToolbar } from "./toolbar.ts";

const startLog = (section: HTMLElement): void => {
  const lines = section.querySelector<HTMLElement>(".log-lines");
  const bar = section.querySelector(".log-bar");
  if (!lines || !bar) return;
  const store = new LogStore();
  const isLive = () => section.dataset.live === "true";
  const wasLive = isLive();
  const source = section.dataset.src ?? "";
  const view = new LogView(lines, store, source, isLive);
  fillToolbar(bar, store, view);
  const showLinked = followLineLinks(view, store);
  let hasShownLinked = location.hash === "";
  const grew = () => {
    if (!hasShownLinked && store.count > 0) hasShownLinked = showLinked();
    view.plan();
  };
  const caughtUp = () => {
    if (wasLive) view.watch();
  };
  const ended = () => {
    section.toggleAttribute("data-complete", true);
    if (!hasShownLinked) showLinked();
    else if (!wasLive && location.hash === "") {
      const failed = document.querySelector('#steps > li[data-state="failed"]');
      if (failed) view.showStep(failed.id, true);
    }
    view.plan();
  };
  document.addEventListener(REFRESHED, () => view.plan());
  feedLog(source, Number(section.dataset.attempt), wasLive, store, { grew, caughtUp, ended });
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
