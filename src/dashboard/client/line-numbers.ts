import { createElement } from "./elements.ts";

/** Shows line numbers beside a field that does not wrap, and scrolls them with it. */
export const numberLines = (area: HTMLTextAreaElement): void => {
  const box = createElement("div", "numbered");
  const numbers = createElement("pre", "");
  numbers.setAttribute("aria-hidden", "true");
  area.before(box);
  box.append(numbers, area);
  let count = 0;
  const write = () => {
    const lines = area.value.split("\n").length;
    if (lines === count) return;
    count = lines;
    numbers.textContent = Array.from({ length: lines }, (_, index) => index + 1).join("\n");
  };
  const syncScroll = () => {
    numbers.scrollTop = area.scrollTop;
  };
  area.addEventListener("input", write);
  area.addEventListener("scroll", syncScroll, { passive: true });
  new ResizeObserver(() => {
    numbers.style.height = `${area.offsetHeight}px`;
    syncScroll();
  }).observe(area);
  write();
};

/** Moves the cursor to a line and column (counted from 1), and scrolls there. */
export const moveCursor = (area: HTMLTextAreaElement, line: number, column: number): void => {
  const lines = area.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const at = before + column - 1;
  area.focus();
  area.setSelectionRange(at, Math.min(at + 1, before + (lines[line - 1]?.length ?? 0)));
  const { lineHeight, fontSize } = getComputedStyle(area);
  area.scrollTop = (line - 1) * Number.parseFloat(lineHeight) - area.clientHeight / 3;
  area.scrollLeft = (column - 1) * Number.parseFloat(fontSize) * 0.6 - area.clientWidth / 2;
};
