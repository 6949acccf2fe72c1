import { REFRESHED } from "./events.ts";

/** When the steps are shown in one line, scrolls to the one that failed or runs. */
export const scrollToActiveStep = (): void => {
  let shown = "";
  const scroll = () => {
    const step = document.querySelector<HTMLElement>('.many > li:is([data-state="failed"], [data-state="running"])');
    const line = step?.parentElement;
    if (!step || !line || step.id === shown) return;
    shown = step.id;
    line.scrollLeft = step.offsetLeft - line.clientWidth / 3;
  };
  scroll();
  document.addEventListener(REFRESHED, scroll);
};
