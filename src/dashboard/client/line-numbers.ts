/** Numbers the lines of a field that does not wrap, and scrolls with it. */
export const numberLines = (area: HTMLTextAreaElement): void => {
  const box = document.createElement("div");
  box.className = "numbered";
  const numbers = document.createElement("pre");
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
  const follow = () => {
    numbers.scrollTop = area.scrollTop;
  };
  area.addEventListener("input", write);
  area.addEventListener("scroll", follow, { passive: true });
  new ResizeObserver(() => {
    numbers.style.height = `${area.offsetHeight}px`;
    follow();
  }).observe(area);
  write();
};

/** Puts the cursor on a line and column (from 1) of the field, and both into sight. */
export const goTo = (area: HTMLTextAreaElement, line: number, column: number): void => {
  const lines = area.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const at = before + column - 1;
  area.focus();
  area.setSelectionRange(at, Math.min(at + 1, before + (lines[line - 1]?.length ?? 0)));
  const { lineHeight, fontSize } = getComputedStyle(area);
  area.scrollTop = (line - 1) * Number.parseFloat(lineHeight) - area.clientHeight / 3;
  area.scrollLeft = (column - 1) * Number.parseFloat(fontSize) * 0.6 - area.clientWidth / 2;
};
