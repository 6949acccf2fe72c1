import { createButton, createElement } from "./elements.ts";
import { moveCursor, numberLines } from "./line-numbers.ts";

interface Mistake {
  line: number;
  column: number;
  message: string;
  suggestion?: string;
}

/** The check waits for this long a pause. */
const TYPING_MS = 250;

const mistakeItem = (area: HTMLTextAreaElement, { line, column, message, suggestion }: Mistake): HTMLElement => {
  const hint = suggestion === undefined ? "" : `. Did you mean \`${suggestion}\`?`;
  const item = createElement("li", "");
  item.append(createButton("quiet", `${line}:${column} ${message}${hint}`, () => moveCursor(area, line, column)));
  return item;
};

const requestCheck = (area: HTMLTextAreaElement): Promise<Response> => {
  const { check: address = "", repo = "", pipeline = "" } = area.dataset;
  const body = new URLSearchParams({ definition: area.value, repoId: repo, pipelineId: pipeline });
  return fetch(address, { method: "POST", body });
};

/** Lists the mistakes of a pipeline's definition below its field, while a person types. */
const checkWhileTyping = (area: HTMLTextAreaElement): void => {
  numberLines(area);
  const status = createElement("div", "");
  status.setAttribute("role", "status");
  const list = createElement("ul", "mistakes");
  status.append(list);
  area.parentElement?.after(status);
  const check = async () => {
    const definition = area.value;
    if (definition.trim() === "") return list.replaceChildren();
    const response = await requestCheck(area);
    if (!response.ok || area.value !== definition) return;
    const { mistakes, hints } = (await response.json()) as { mistakes: Mistake[]; hints: Mistake[] };
    area.setAttribute("aria-invalid", String(mistakes.length > 0));
    list.replaceChildren(...[...mistakes, ...hints].map((each) => mistakeItem(area, each)));
    if (mistakes.length === 0) list.prepend(createElement("li", "", "No mistake found."));
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, TYPING_MS);
  });
  check();
};

for (const area of document.querySelectorAll<HTMLTextAreaElement>("textarea[data-check]")) checkWhileTyping(area);
