import { REFRESHED } from "./events.ts";

/** Where the rows of steps or jobs scroll, scrolls to the one that failed or runs: once for each. */
export const scrollToActiveStep = (): void => {
  let shown = "";
  const scroll = () => {
    const rows = document.querySelector<HTMLElement>(".fall-rows");
    const row = rows?.querySelector<HTMLElement>(':is([data-state="failed"], [data-state="running"])');
    if (!rows || !row || row.id === shown || rows.matches(":hover, :focus-within")) return;
    shown = row.id;
    const below = row.getBoundingClientRect().top - rows.getBoundingClientRect().top;
    if (below < 0 || below > rows.clientHeight - row.offsetHeight) rows.scrollTop += below - rows.clientHeight / 3;
  };
  scroll();
  document.addEventListener(REFRESHED, scroll);
};
