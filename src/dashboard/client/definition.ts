import { goTo, numberLines } from "./line-numbers.ts";

interface Mistake {
  line: number;
  column: number;
  message: string;
  suggestion?: string;
}

const TYPING_MS = 250;

const item = (area: HTMLTextAreaElement, mistake: Mistake): HTMLElement => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  const meant = mistake.suggestion === undefined ? "" : `. Did you mean \`${mistake.suggestion}\`?`;
  button.textContent = `${mistake.line}:${mistake.column} ${mistake.message}${meant}`;
  button.addEventListener("click", () => goTo(area, mistake.line, mistake.column));
  const entry = document.createElement("li");
  entry.append(button);
  return entry;
};

const watch = (area: HTMLTextAreaElement): void => {
  numberLines(area);
  const status = document.createElement("div");
  status.setAttribute("role", "status");
  const told = document.createElement("ul");
  told.className = "mistakes";
  status.append(told);
  area.parentElement?.after(status);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = async () => {
    const definition = area.value;
    if (definition.trim() === "") return told.replaceChildren();
    const { check: address = "", repo = "", pipeline = "" } = area.dataset;
    const body = new URLSearchParams({ definition, repoId: repo, pipelineId: pipeline });
    const response = await fetch(address, { method: "POST", body });
    if (!response.ok || area.value !== definition) return;
    const { mistakes, hints } = (await response.json()) as { mistakes: Mistake[]; hints: Mistake[] };
    area.setAttribute("aria-invalid", String(mistakes.length > 0));
    const fine = document.createElement("li");
    fine.textContent = "No mistake found.";
    told.replaceChildren(
      ...(mistakes.length > 0 ? [] : [fine]),
      ...[...mistakes, ...hints].map((one) => item(area, one)),
    );
  };
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, TYPING_MS);
  });
  check();
};

for (const area of document.querySelectorAll<HTMLTextAreaElement>("textarea[data-check]")) watch(area);
