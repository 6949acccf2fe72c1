const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");

/** What stands for a row of a list: its link, or the row itself. */
const rows = (): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>("[data-row]:is(li, tr)")].map((row) => row.querySelector("a.what") ?? row);

const move = (by: number): void => {
  const all = rows();
  const at = all.findIndex((row) => row.closest("[data-row]")?.contains(document.activeElement));
  all[Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
};

/** Whatever names the key: a field is entered, anything else pressed. */
const press = (key: string): boolean => {
  const target = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`);
  if (!target) return false;
  if (target.matches("input, textarea")) target.focus();
  else target.click();
  return true;
};

/** Single keys, and two after one another as in `g b`, wherever nobody types. */
export const listen = (): void => {
  let before = "";
  document.addEventListener("keydown", (event) => {
    const { key } = event;
    if (isTyping(event.target)) {
      if (key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const pair = before === "g" ? `g ${key}` : key;
    before = before === "" && key === "g" ? "g" : "";
    if (pair === "j" || pair === "k") move(pair === "j" ? 1 : -1);
    else if (pair === "g" || !press(pair)) return;
    event.preventDefault();
  });
};
