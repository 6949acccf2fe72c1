import type { PaletteKind, PaletteRow } from "../row.ts";

/** A line of the palette: something to open, or something to do on this page. */
export interface Entry {
  kind: PaletteKind | "page" | "action";
  name: string;
  note: string;
  /** The keys that do the same without the palette. */
  keys: string;
  run(): void;
}

const go = (href: string) => (): void => location.assign(href);

/** The name of a control as a screen reader says it. */
const nameOf = (element: HTMLElement): string =>
  (element.getAttribute("aria-label") ?? element.textContent ?? "").replace(/\s+/g, " ").trim();

/** What every page leads to. An address stands once, under its longest name. */
const pages = (): Entry[] => {
  const links = document.querySelectorAll<HTMLAnchorElement>(".rail nav a, .tabs a, #me a, #keys a");
  const found = new Map<string, Entry>();
  for (const link of links) {
    const href = link.getAttribute("href") ?? "";
    const entry: Entry = { kind: "page", name: nameOf(link), note: "", keys: link.dataset.key ?? "", run: go(href) };
    if (href !== "" && !found.has(href)) found.set(href, entry);
  }
  return [...found.values()];
};

const ACTIONS = "main :is(button, a.button), #me button";

const isUsable = (element: HTMLElement): boolean =>
  !element.matches(":disabled, [popover] *, .log *, .announce") && element.checkVisibility();

/** The buttons of this page, and those of the person. Nothing is done that the button itself would not ask about. */
const actions = (): Entry[] => {
  const subject = document.querySelector("main h1")?.textContent?.trim() ?? "";
  const buttons = [...document.querySelectorAll<HTMLElement>(ACTIONS)];
  return buttons
    .filter((button) => (button.closest("#me") ? !button.matches(":disabled") : isUsable(button)))
    .map((button): Entry => {
      const name = button.closest(".themes") ? `Theme: ${nameOf(button)}` : nameOf(button);
      const note = button.closest("main") ? subject : "";
      return { kind: "action", name, note, keys: button.dataset.key ?? "", run: () => button.click() };
    })
    .filter(({ name }) => name !== "");
};

export const entriesOfPage = (): Entry[] => [...actions(), ...pages()];

export const entryOf = ({ kind, name, note, href }: PaletteRow): Entry => ({
  kind,
  name,
  note,
  keys: "",
  run: go(href),
});

/** What the palette itself cannot know by name, the lists find. */
export const searchesFor = (word: string): Entry[] =>
  [
    ["Builds of the branch or tag", `/app/builds?branch=${encodeURIComponent(word)}`],
    ["Repositories with", `/app/repositories?q=${encodeURIComponent(word)}`],
    ["Agents with", `/app/agents?q=${encodeURIComponent(word)}`],
    ["Variables with", `/app/variables?q=${encodeURIComponent(word)}`],
  ].map(([name = "", href = ""]) => ({ kind: "page", name: `${name} "${word}"`, note: "", keys: "", run: go(href) }));
