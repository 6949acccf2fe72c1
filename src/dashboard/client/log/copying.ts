import type { LineRange } from "./line-rows.ts";
import type { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";
import { plainText } from "./paint.ts";

/** Lines as a terminal shows them, without colours. */
const textOf = (store: LogStore, { from, to }: LineRange): string => {
  const lines: string[] = [];
  for (let line = Math.max(0, from); line <= Math.min(to, store.count - 1); line += 1)
    lines.push(plainText(store.line(line)));
  return lines.join("\n");
};

/** Copies the lines that the address links to, else the step at the top of what is visible. Returns what it copied. */
export const copyLines = async (store: LogStore, view: LogView): Promise<string> => {
  const linked = view.linked && view.linked.from < store.count ? view.linked : null;
  const range = linked ?? view.linesAtTop();
  if (!range) return "Nothing to copy";
  await navigator.clipboard.writeText(textOf(store, range));
  if (!linked) return "Step copied";
  return range.from === range.to ? `Line ${range.from + 1} copied` : `Lines ${range.from + 1}-${range.to + 1} copied`;
};

/** Ctrl A within the log selects all of it, though only some rows are drawn; then a copy has every line. */
export const selectWhole = (store: LogStore, view: LogView): void => {
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
