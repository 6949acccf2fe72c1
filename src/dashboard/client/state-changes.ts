import { REFRESHED } from "./events.ts";

const main = document.querySelector("main") as HTMLElement;

/** The signs of states by where they stand: what has an id around them, and the place within it. */
const readSigns = (): Map<string, { sign: Element; look: string }> => {
  const signs = new Map<string, { sign: Element; look: string }>();
  const counts = new Map<string, number>();
  for (const sign of main.querySelectorAll("svg.state")) {
    const around = sign.closest("[id]")?.id ?? "";
    const place = counts.get(around) ?? 0;
    counts.set(around, place + 1);
    signs.set(`${around} ${place}`, { sign, look: sign.getAttribute("class") ?? "" });
  }
  return signs;
};

/** The sign of a state rings once when a refresh changes it: see `style/states.css`. */
export const ringStateChanges = (): void => {
  let before = readSigns();
  document.addEventListener(REFRESHED, () => {
    const now = readSigns();
    for (const [place, { sign, look }] of now) {
      const known = before.get(place);
      sign.toggleAttribute("data-changed", known !== undefined && known.look !== look);
    }
    before = now;
  });
};
