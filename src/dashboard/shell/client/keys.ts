import { ROW_KEYS } from "../keys.ts";

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");

/** Returns the elements that get the focus for rows of lists: a row's link or summary, or the row itself. */
const rowTargets = (): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>("[data-row]:is(li, tr)")]
    .filter((row) => row.checkVisibility())
    .map((row) => row.querySelector<HTMLElement>("a.what, summary") ?? row);

const rowInFocus = (): Element | null | undefined => document.activeElement?.closest("[data-row]");

const moveFocus = (by: number): void => {
  const all = rowTargets();
  const current = rowInFocus();
  const at = all.findIndex((row) => row.closest("[data-row]") === current);
  all[Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
};

/** Opens the focused row, unless the browser opens it by itself. */
const openRow = (): boolean => {
  const row = rowInFocus();
  if (!row || row !== document.activeElement) return false;
  row.querySelector<HTMLElement>("a")?.click();
  return true;
};

/** Opens the page that asks before it removes or revokes the row's record. */
const endRow = (): boolean => {
  const address = rowInFocus()?.getAttribute("data-end");
  if (address) location.assign(address);
  return Boolean(address);
};

/**
 * Uses the element with this key: focuses a field, or clicks any other element. Returns false if no element has the
 * key.
 */
const press = (key: string): boolean => {
  const target = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  if (!target) return false;
  if (target.matches("input, textarea")) target.focus();
  else target.click();
  return true;
};

/** Handles the keys for rows, which are the same in every list. Returns false for any other key. */
const useRow = (key: string): boolean => {
  if (key === ROW_KEYS.next || key === ROW_KEYS.previous) moveFocus(key === ROW_KEYS.next ? 1 : -1);
  else if (key === "Enter") return openRow();
  else return key === ROW_KEYS.end && endRow();
  return true;
};

/** Handles single keys and pairs such as `g b`, except while a person types into a field. */
export const listenToKeys = (): void => {
  let before = "";
  document.addEventListener("keydown", (event) => {
    const { key } = event;
    if (isTyping(event.target)) {
      if (key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pair = before === "g" ? `g ${key}` : key;
    before = pair === "g" ? "g" : "";
    if (pair === "g") return;
    const isDone = useRow(pair) || press(pair);
    if (isDone) event.preventDefault();
  });
};
