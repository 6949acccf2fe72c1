import { createButton, createElement } from "../../shell/client/elements.ts";

/** Shows line numbers next to a field that does not wrap, and scrolls them with it. */
const numberLines = (area: HTMLTextAreaElement): void => {
  const box = createElement("div", "numbered");
  const numbers = createElement("pre", "");
  numbers.setAttribute("aria-hidden", "true");
  area.before(box);
  box.append(numbers, area);
  let count = 0;
  const write = () => {
    const lines = area.value.split("\n").length;
    if (lines === count) return;
    count = lines;
    numbers.textContent = Array.from({ length: lines }, (_, index) => index + 1).join("\n");
  };
  const syncScroll = () => {
    numbers.scrollTop = area.scrollTop;
  };
  area.addEventListener("input", write);
  area.addEventListener("scroll", syncScroll, { passive: true });
  new ResizeObserver(() => {
    numbers.style.height = `${area.offsetHeight}px`;
    syncScroll();
  }).observe(area);
  write();
};

/** Moves the cursor to a line and column (both counted from 1), and scrolls there. */
const moveCursor = (area: HTMLTextAreaElement, line: number, column: number): void => {
  const lines = area.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  const at = before + column - 1;
  area.focus();
  area.setSelectionRange(at, Math.min(at + 1, before + (lines[line - 1]?.length ?? 0)));
  const { lineHeight, fontSize } = getComputedStyle(area);
  area.scrollTop = (line - 1) * Number.parseFloat(lineHeight) - area.clientHeight / 3;
  area.scrollLeft = (column - 1) * Number.parseFloat(fontSize) * 0.6 - area.clientWidth / 2;
};

interface Mistake {
  line: number;
  column: number;
  message: string;
  suggestion?: string;
}

/** Milliseconds without typing after which the check starts. */
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

/** Lists the mistakes in a pipeline's definition below its field while a person types. */
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
    if (mistakes.length === 0) list.prepend(createElement("li", "", "No mistakes found."));
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, TYPING_MS);
  });
  check();
};

for (const area of document.querySelectorAll<HTMLTextAreaElement>("textarea[data-check]")) checkWhileTyping(area);
