import { createButton, createElement, REFRESHED } from "../../shell/client/elements.ts";
import type { LineRange } from "./line-rows.ts";
import { EarlierLines, feedLog } from "./log-feed.ts";
import { LogStore } from "./log-store.ts";
import { LogView } from "./log-view.ts";
import { visibleText } from "./paint.ts";
import { SearchField } from "./search-field.ts";

/** Returns lines as a terminal shows them, without colours. */
const readText = (store: LogStore, { from, to }: LineRange): string => {
  const lines: string[] = [];
  for (let line = Math.max(0, from); line <= Math.min(to, store.count - 1); line += 1)
    lines.push(visibleText(store.line(line)));
  return lines.join("\n");
};

/**
 * Copies the lines in the address, or the step at the top of the visible part. Returns a text that says which of them
 * it copied.
 */
const copyLines = async (store: LogStore, view: LogView): Promise<string> => {
  const linked = view.linked && view.linked.from < store.count ? view.linked : null;
  const range = linked ?? view.linesAtTop();
  if (!range) return "Nothing to copy";
  await navigator.clipboard.writeText(readText(store, range));
  if (!linked) return "Step copied";
  return range.from === range.to ? `Line ${range.from + 1} copied` : `Lines ${range.from + 1}-${range.to + 1} copied`;
};

/**
 * Makes Ctrl A within the log select the whole log, though the page draws only some rows. A copy then has every line.
 */
const selectWhole = (store: LogStore, view: LogView): void => {
  const { scroller } = view;
  let isWhole = false;
  scroller.addEventListener("keydown", (event) => {
    isWhole = isWhole && (event.ctrlKey || event.metaKey);
    if (event.key.toLowerCase() !== "a" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    getSelection()?.selectAllChildren(scroller);
    isWhole = true;
  });
  scroller.addEventListener("pointerdown", () => (isWhole = false));
  scroller.addEventListener("copy", (event) => {
    if (!isWhole) return;
    event.preventDefault();
    event.clipboardData?.setData("text/plain", readText(store, { from: 0, to: store.count - 1 }));
  });
};

const CONFIRMED_MS = 2000;

const toolButton = (text: string, key: string, press: () => void): HTMLButtonElement => {
  const button = createButton("quiet", text, press);
  if (key) {
    button.dataset.key = key;
    button.title = `Shortcut: ${key}`;
  }
  return button;
};

/** Creates a toggle button. @param press Changes the state and returns whether the button is pressed now. */
const toggle = (text: string, key: string, press: () => boolean): HTMLButtonElement => {
  const button = toolButton(text, key, () => button.setAttribute("aria-pressed", String(press())));
  button.setAttribute("aria-pressed", "false");
  return button;
};

const copyButton = (store: LogStore, view: LogView): HTMLButtonElement => {
  const button = toolButton("Copy step", "", async () => {
    button.textContent = await copyLines(store, view);
    setTimeout(() => (button.textContent = "Copy step"), CONFIRMED_MS);
  });
  return button;
};

/** Adds the log's tools. Returns a function that the caller must call when the log has grown. */
const fillToolbar = (bar: Element, store: LogStore, view: LogView, readAll: () => Promise<void>): (() => void) => {
  const raw = bar.querySelector("a");
  const search = new SearchField(store, view, readAll);
  const wrap = toggle("Wrap", "w", () => {
    const isWrapped = view.scroller.classList.toggle("is-wrapped");
    view.plan();
    return isWrapped;
  });
  const times = toggle("Times", "t", () => {
    view.times.isShown = !view.times.isShown;
    view.plan();
    return view.times.isShown;
  });
  const follow = toolButton("Follow", "f", () => view.follow(!view.isFollowing));
  view.onFollow = () => follow.setAttribute("aria-pressed", String(view.isFollowing));
  view.onFollow();
  const full = toolButton("Full screen", "F", () => {
    if (document.fullscreenElement) void document.exitFullscreen();
    else void bar.parentElement?.requestFullscreen();
  });
  selectWhole(store, view);
  const tools = createElement("span", "log-tools");
  tools.append(...search.elements, wrap, times, follow, copyButton(store, view), full);
  if (raw) tools.append(raw);
  bar.append(tools);
  return () => search.grew();
};

const parseRange = (hash: string, store: LogStore): { from: number; to: number } | null => {
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
 * Marks the lines in the address (`#L118`, `#L118-L130`, or `#at-` and a line's byte) and scrolls to them, also when
 * the address changes. A link to a step scrolls the log to the step. Returns a function that scrolls to the address's
 * place now and reports whether the place exists.
 */
const followLineLinks = (view: LogView, store: LogStore, readAll: () => void): (() => boolean) => {
  const showLinked = (): boolean => {
    if (store.base > 0 && location.hash !== "") readAll();
    view.linked = parseRange(location.hash, store);
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

/** Shows the line that says why a step failed, or the step's last lines. Returns whether a step failed. */
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

/** Shows the log as soon as the page has one. The log is live, with search and foldable steps. */
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
