/** Arrow keys go from one bar of a chart to the next: the Tab key stops at a chart once. */
export const walkBars = (): void => {
  document.addEventListener("keydown", ({ key, target }) => {
    const step = key === "ArrowLeft" ? -1 : key === "ArrowRight" ? 1 : 0;
    const bar = target instanceof Element ? target.closest(".bars > .bar") : null;
    if (step === 0 || !bar) return;
    const next = step < 0 ? bar.previousElementSibling : bar.nextElementSibling;
    if (next instanceof SVGElement) next.focus();
  });
};
