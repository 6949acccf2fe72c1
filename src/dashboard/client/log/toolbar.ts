import { createButton, createElement } from "../elements.ts";
import { copyLines, selectWhole } from "./copying.ts";
import type { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";
import { SearchField } from "./search-field.ts";

const CONFIRMED_MS = 2000;

const toolButton = (text: string, key: string, press: () => void): HTMLButtonElement => {
  const button = createButton("quiet", text, press);
  if (key) {
    button.dataset.key = key;
    button.title = `Key ${key}`;
  }
  return button;
};

/** A button that is pressed or not. @param press changes it and returns whether it is pressed now */
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

/** Adds the tools of the log. Returns what is to be called when the log has grown. */
export const fillToolbar = (
  bar: Element,
  store: LogStore,
  view: LogView,
  readAll: () => Promise<void>,
): (() => void) => {
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
