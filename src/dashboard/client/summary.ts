import { REFRESHED } from "./events.ts";
import { parseMarkup } from "./markup.ts";

let rendered = "";

const render = async (): Promise<void> => {
  const source = document.getElementById("summary-source")?.textContent;
  const shown = document.getElementById("summary-shown");
  if (!source || !shown || source === rendered) return;
  rendered = source;
  const { toHtml } = (await import(shown.dataset.renderer as string)) as typeof import("./markdown.ts");
  if (source === rendered) shown.replaceChildren(...parseMarkup(toHtml(source)).body.childNodes);
};

/** Shows the summary's Markdown as what it means, anew when it grows. What renders it is loaded once there is one. */
export const keepSummary = (): void => {
  void render();
  document.addEventListener(REFRESHED, () => void render());
};
