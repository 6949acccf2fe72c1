import { REFRESHED } from "./events.ts";

/**
 * Takes the notice of the last form out of the address, so that a reload or a shared link does not show it again, and
 * removes it from the page when the state that it speaks of changes.
 */
export const removeNotice = (): void => {
  const address = new URL(location.href);
  if (!address.searchParams.has("done")) return;
  address.searchParams.delete("done");
  history.replaceState(null, "", address);
  const main = document.querySelector("main");
  const state = main?.dataset.state;
  document.addEventListener(REFRESHED, () => {
    if (main?.dataset.state !== state) document.querySelector(".notice")?.remove();
  });
};
