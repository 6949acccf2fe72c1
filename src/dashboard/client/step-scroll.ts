import { REFRESHED } from "./events.ts";

/** Of steps that stand in one line, the one that failed or runs comes into sight. */
export const keepStepInSight = (): void => {
  let shown = "";
  const look = () => {
    const step = document.querySelector<HTMLElement>('.many > li:is([data-state="failed"], [data-state="running"])');
    const line = step?.parentElement;
    if (!step || !line || step.id === shown) return;
    shown = step.id;
    line.scrollLeft = step.offsetLeft - line.clientWidth / 3;
  };
  look();
  document.addEventListener(REFRESHED, look);
};
