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

/** Renders the summary's Markdown, again when it changes. The renderer is loaded only when there is a summary. */
export const renderSummary = (): void => {
  void render();
  document.addEventListener(REFRESHED, () => void render());
};
