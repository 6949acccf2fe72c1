import { REFRESHED } from "../events.ts";
import { watchAddress } from "./line-links.ts";
import { feed } from "./log-feed.ts";
import { LogStore } from "./log-store.ts";
import { LogView } from "./log-view.ts";
import { fillBar } from "./toolbar.ts";

const begin = (section: HTMLElement): void => {
  const lines = section.querySelector<HTMLElement>(".log-lines");
  const bar = section.querySelector(".log-bar");
  if (!lines || !bar) return;
  const store = new LogStore();
  const isLive = () => section.dataset.live === "true";
  const wasLive = isLive();
  const source = section.dataset.src ?? "";
  const view = new LogView(lines, store, source, isLive);
  fillBar(bar, store, view);
  const address = watchAddress(view, store);
  let hasArrived = location.hash === "";
  const grew = () => {
    if (!hasArrived && store.count > 0) hasArrived = address.arrive();
    view.plan();
  };
  const ended = () => {
    section.toggleAttribute("data-complete", true);
    if (!hasArrived) address.arrive();
    else if (!wasLive && location.hash === "") {
      const failed = document.querySelector('#steps > li[data-state="failed"]');
      if (failed) view.showStep(failed.id, true);
    }
    view.plan();
  };
  document.addEventListener(REFRESHED, () => view.plan());
  const caughtUp = () => {
    if (wasLive) view.watch();
  };
  feed(source, Number(section.dataset.attempt), wasLive, store, { grew, caughtUp, ended });
};

/** Turns the page's log into one that is live, folds and can be searched, as soon as the build has one. */
export const showLog = (): void => {
  let isBegun = false;
  const look = () => {
    const section = document.getElementById("log");
    if (isBegun || !section) return;
    isBegun = true;
    begin(section);
  };
  look();
  document.addEventListener(REFRESHED, look);
};
