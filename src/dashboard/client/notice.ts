import { REFRESHED } from "./events.ts";

/** What a form did is told once: not again by a reload or a shared link, and no longer than it is so. */
export const endNotice = (): void => {
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
