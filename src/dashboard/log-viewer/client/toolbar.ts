import { createButton, createElement } from "../../shell/client/elements.ts";
import type { LineRange } from "./line-rows.ts";
import type { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";
import { shownText } from "./paint.ts";
import { SearchField } from "./search-field.ts";

/** Lines as a terminal shows them, without colours. */
const textOf = (store: LogStore, { from, to }: LineRange): string => {
  const lines: string[] = [];
  for (let line = Math.max(0, from); line <= Math.min(to, store.count - 1); line += 1)
    lines.push(shownText(store.line(line)));
  return lines.join("\n");
};

/** Copies the lines that the address links to, else the step at the top of what is visible. Returns what it copied. */
const copyLines = async (store: LogStore, view: LogView): Promise<string> => {
  const linked = view.linked && view.linked.from < store.count ? view.linked : null;
  const range = linked ?? view.linesAtTop();
  if (!range) return "Nothing to copy";
  await navigator.clipboard.writeText(textOf(store, range));
  if (!linked) return "Step copied";
  return range.from === range.to ? `Line ${range.from + 1} copied` : `Lines ${range.from + 1}-${range.to + 1} copied`;
};

/** Ctrl A within the log selects all of it, though only some rows are drawn; then a copy has every line. */
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
    event.clipboardData?.setData("text/plain", textOf(store, { from: 0, to: store.count - 1 }));
  });
};

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
