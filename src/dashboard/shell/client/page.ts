import { offerPalette } from "../../palette/client/palette.ts";
import { parseMarkup, showLocalTimes, startAutoRefresh, updateTimes } from "./auto-refresh.ts";
import { createButton, REFRESHED } from "./elements.ts";
import { listenToKeys } from "./keys.ts";
import { offerNotifications } from "./notifications.ts";

let rendered = "";

const render = async (): Promise<void> => {
  const source = document.getElementById("summary-source")?.textContent;
  const summary = document.getElementById("summary-shown");
  if (!source || !summary || source === rendered) return;
  rendered = source;
  const { toHtml } = (await import(
    summary.dataset.renderer as string
  )) as typeof import("../../build/client/markdown.ts");
  if (source === rendered) summary.replaceChildren(...parseMarkup(toHtml(source)).body.childNodes);
};

/**
 * Renders the summary's Markdown, and renders it again after each change. Loads the renderer only if there is a
 * summary.
 */
const renderSummary = (): void => {
  void render();
  document.addEventListener(REFRESHED, () => void render());
};

const main = document.querySelector("main") as HTMLElement;

/**
 * Returns the signs of states by their places. A place is the id of the nearest element around a sign, and the sign's
 * position in that element.
 */
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

/** Animates a state's sign once when a refresh changes it. `parts/states.css` defines the animation. */
const ringStateChanges = (): void => {
  let before = readSigns();
  document.addEventListener(REFRESHED, () => {
    const now = readSigns();
    for (const [place, { sign, look }] of now) {
      const earlier = before.get(place);
      sign.toggleAttribute("data-changed", earlier !== undefined && earlier.look !== look);
    }
    before = now;
  });
};

/**
 * Removes the last form's notice from the address, so that a reload or a shared link does not repeat it. When the state
 * changes, removes the notice from the page.
 */
const removeNotice = (): void => {
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

const CONFIRMED_MS = 2000;

/** Adds a copy button to every text that a person may copy. */
const addCopyButtons = (): void => {
  for (const box of document.querySelectorAll(".copied")) {
    const button = createButton("", "Copy", async () => {
      await navigator.clipboard.writeText(box.querySelector("pre")?.textContent ?? "");
      button.textContent = "Copied";
      setTimeout(() => {
        button.textContent = "Copy";
      }, CONFIRMED_MS);
    });
    box.prepend(button);
  }
};

/** Moves from one bar of a chart to the next on the arrow keys. The Tab key stops at a chart only once. */
const walkBars = (): void => {
  document.addEventListener("keydown", ({ key, target }) => {
    const step = key === "ArrowLeft" ? -1 : key === "ArrowRight" ? 1 : 0;
    const bar = target instanceof Element ? target.closest(".bars > .bar") : null;
    if (step === 0 || !bar) return;
    const next = step < 0 ? bar.previousElementSibling : bar.nextElementSibling;
    if (next instanceof SVGElement) next.focus();
  });
};

setInterval(updateTimes, 1000);
updateTimes();
showLocalTimes();
removeNotice();
listenToKeys();
walkBars();
addCopyButtons();
offerPalette();
offerNotifications();
ringStateChanges();
startAutoRefresh();
renderSummary();
