import type { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";
import { isShown, search } from "./search.ts";

const TYPING_MS = 150;

const button = (text: string, key: string | null, press: () => void): HTMLButtonElement => {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "quiet";
  element.textContent = text;
  if (key) element.dataset.key = key;
  element.addEventListener("click", press);
  return element;
};

const searchField = (store: LogStore, view: LogView): HTMLElement[] => {
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Search the log";
  input.setAttribute("aria-label", "Search the log");
  input.dataset.key = "/";
  const told = document.createElement("output");
  let found: number[] = [];
  let at = -1;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const go = (by: number) => {
    if (found.length === 0) return;
    at = (at + by + found.length) % found.length;
    const line = found[at] ?? 0;
    const place = `${at + 1} of ${found.length}`;
    told.textContent = isShown(store.line(line), view.needle) ? place : `${place}, too far right to be shown: see Raw`;
    view.show(line);
  };
  const look = async () => {
    const needle = input.value.toLowerCase();
    view.needle = needle;
    view.plan();
    told.textContent = "";
    if (needle === "") return;
    told.textContent = "searching";
    found = await search(store, needle, () => input.value.toLowerCase() === needle);
    if (input.value.toLowerCase() !== needle) return;
    at = -1;
    told.textContent = found.length === 0 ? "not found" : "";
    go(1);
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, TYPING_MS);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  });
  return [input, told];
};

/** What one can do with the log beside reading it. */
export const fillBar = (bar: Element, store: LogStore, view: LogView): void => {
  const raw = bar.querySelector("a");
  const wrap = button("Wrap", null, () => {
    wrap.setAttribute("aria-pressed", String(view.scroller.classList.toggle("is-wrapped")));
    view.plan();
  });
  wrap.setAttribute("aria-pressed", "false");
  const follow = button("Follow", "f", () => view.follow(!view.isFollowing));
  view.onFollow = () => follow.setAttribute("aria-pressed", String(view.isFollowing));
  view.onFollow();
  const tools = document.createElement("span");
  tools.className = "log-tools";
  tools.append(...searchField(store, view), wrap, follow);
  bar.insertBefore(tools, raw);
};
