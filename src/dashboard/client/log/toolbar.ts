import { createButton, createElement } from "../elements.ts";
import type { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";
import { isShown, searchLog } from "./search.ts";

const TYPING_MS = 150;

const toolButton = (text: string, key: string, press: () => void): HTMLButtonElement => {
  const button = createButton("quiet", text, press);
  if (key) button.dataset.key = key;
  return button;
};

const searchField = (store: LogStore, view: LogView): HTMLElement[] => {
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Search the log";
  input.setAttribute("aria-label", "Search the log");
  input.dataset.key = "/";
  const result = createElement("output", "");
  let found: number[] = [];
  let at = -1;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const moveTo = (by: number) => {
    if (found.length === 0) return;
    at = (at + by + found.length) % found.length;
    const line = found[at] ?? 0;
    const place = `${at + 1} of ${found.length}`;
    result.textContent = isShown(store.line(line), view.needle)
      ? place
      : `${place}, too far right to be shown: see Raw`;
    view.show(line);
  };
  const searchNow = async () => {
    const needle = input.value.toLowerCase();
    view.needle = needle;
    view.plan();
    result.textContent = "";
    if (needle === "") return;
    result.textContent = "searching";
    found = await searchLog(store, needle, () => input.value.toLowerCase() === needle);
    if (input.value.toLowerCase() !== needle) return;
    at = -1;
    result.textContent = found.length === 0 ? "not found" : "";
    moveTo(1);
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(searchNow, TYPING_MS);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    moveTo(event.shiftKey ? -1 : 1);
  });
  return [input, result];
};

/** Adds the tools of the log: search, wrap and follow. */
export const fillToolbar = (bar: Element, store: LogStore, view: LogView): void => {
  const raw = bar.querySelector("a");
  const wrap = toolButton("Wrap", "", () => {
    wrap.setAttribute("aria-pressed", String(view.scroller.classList.toggle("is-wrapped")));
    view.plan();
  });
  wrap.setAttribute("aria-pressed", "false");
  const follow = toolButton("Follow", "f", () => view.follow(!view.isFollowing));
  view.onFollow = () => follow.setAttribute("aria-pressed", String(view.isFollowing));
  view.onFollow();
  const tools = createElement("span", "log-tools");
  tools.append(...searchField(store, view), wrap, follow);
  bar.insertBefore(tools, raw);
};
