import { REFRESHED } from "./events.ts";

/** The first row in this state that is not folded away. */
const inState = (rows: HTMLElement, state: string): HTMLElement | undefined =>
  [...rows.querySelectorAll<HTMLElement>(`[data-state="${state}"]`)].find((row) => row.checkVisibility());

/** Where the rows of steps or jobs scroll, scrolls to the one that failed, else to one that runs: once for each. */
export const scrollToActiveStep = (): void => {
  let shown = "";
  const scroll = () => {
    const rows = document.querySelector<HTMLElement>(".fall-rows");
    const row = rows && (inState(rows, "failed") ?? inState(rows, "running"));
    if (!row || row.id === shown || rows.matches(":hover, :focus-within")) return;
    shown = row.id;
    const below = row.getBoundingClientRect().top - rows.getBoundingClientRect().top;
    if (below < 0 || below > rows.clientHeight - row.offsetHeight) rows.scrollTop += below - rows.clientHeight / 3;
  };
  scroll();
  document.addEventListener(REFRESHED, scroll);
};
