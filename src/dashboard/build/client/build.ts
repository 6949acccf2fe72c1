import { showLogPanel } from "../../log-viewer/client/log-panel.ts";
import { REFRESHED } from "../../shell/client/elements.ts";

/** Returns the first row in this state that is not inside a closed group. */
const inState = (rows: HTMLElement, state: string): HTMLElement | undefined =>
  [...rows.querySelectorAll<HTMLElement>(`[data-state="${state}"]`)].find((row) => row.checkVisibility());

/** Scrolls each list of steps or jobs once to the failed row, or to a running row if none failed. */
const scrollToActiveStep = (): void => {
  let lastId = "";
  const scroll = () => {
    const rows = document.querySelector<HTMLElement>(".fall-rows");
    const row = rows && (inState(rows, "failed") ?? inState(rows, "running"));
    if (!row || row.id === lastId || rows.matches(":hover, :focus-within")) return;
    lastId = row.id;
    const below = row.getBoundingClientRect().top - rows.getBoundingClientRect().top;
    if (below < 0 || below > rows.clientHeight - row.offsetHeight) rows.scrollTop += below - rows.clientHeight / 3;
  };
  scroll();
  document.addEventListener(REFRESHED, scroll);
};

/** Hides the steps or jobs that do not contain the filter's text, also after a refresh. */
const filterRows = (): void => {
  const apply = () => {
    const field = document.getElementById("fall-filter") as HTMLInputElement | null;
    const searchText = field?.value.trim().toLowerCase() ?? "";
    for (const row of document.querySelectorAll<HTMLElement>(".fall-row")) {
      const name = row.querySelector(".what bdi")?.textContent ?? "";
      row.toggleAttribute("hidden", !name.toLowerCase().includes(searchText));
    }
  };
  document.addEventListener("input", (event) => {
    if ((event.target as Element).id === "fall-filter") apply();
  });
  document.addEventListener(REFRESHED, apply);
};

/** Makes the failure's button jump from one error in the log to the next, and from the last error to the first. */
const listenToNextError = (): void => {
  let at = -1;
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("#next-error");
    if (!button) return;
    const errors = (button.dataset.errors ?? "").split(" ");
    at = (at + 1) % errors.length;
    const place = `#at-${errors[at]}`;
    if (button.dataset.page) location.href = button.dataset.page + place;
    else location.hash = place;
  });
};

const CONFIRMED_MS = 2000;

/** Makes buttons with a text (`data-copy`) copy the text, and confirm that for a moment. */
const listenToCopyButtons = (): void => {
  document.addEventListener("click", async (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy ?? "");
    button.toggleAttribute("data-copied", true);
    setTimeout(() => button.toggleAttribute("data-copied", false), CONFIRMED_MS);
  });
};

showLogPanel();
scrollToActiveStep();
listenToCopyButtons();
listenToNextError();
filterRows();
