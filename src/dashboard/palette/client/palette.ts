import { createElement } from "../../shell/client/elements.ts";
import { type PaletteKind, type PaletteRow, rank } from "../row.ts";

/** A line of the palette: a page to open, or an action on this page. */
interface Entry {
  kind: PaletteKind | "page" | "action";
  name: string;
  note: string;
  /** The keys that have the same effect without the palette. */
  keys: string;
  run(): void;
}

const go = (href: string) => (): void => location.assign(href);

/** Returns a control's name as a screen reader says it. */
const spokenName = (element: HTMLElement): string =>
  (element.getAttribute("aria-label") ?? element.textContent ?? "").replace(/\s+/g, " ").trim();

/** Lists the links of every page. Each address appears once, with its longest name. */
const pages = (): Entry[] => {
  const links = document.querySelectorAll<HTMLAnchorElement>(".rail nav a, .tabs a, #me a, #keys a");
  const entries = new Map<string, Entry>();
  for (const link of links) {
    const href = link.getAttribute("href") ?? "";
    const entry: Entry = {
      kind: "page",
      name: spokenName(link),
      note: "",
      keys: link.dataset.key ?? "",
      run: go(href),
    };
    if (href !== "" && !entries.has(href)) entries.set(href, entry);
  }
  return [...entries.values()];
};

const ACTIONS = "main :is(button, a.button), #me button";

const isUsable = (element: HTMLElement): boolean =>
  !element.matches(":disabled, [popover] *, .log *, .announce") && element.checkVisibility();

/** Lists the buttons of this page and of the person's menu. If a button asks for confirmation, so does its action. */
const actions = (): Entry[] => {
  const subject = document.querySelector("main h1")?.textContent?.trim() ?? "";
  const buttons = [...document.querySelectorAll<HTMLElement>(ACTIONS)];
  return buttons
    .filter((button) => (button.closest("#me") ? !button.matches(":disabled") : isUsable(button)))
    .map((button): Entry => {
      const name = button.closest(".themes") ? `Theme: ${spokenName(button)}` : spokenName(button);
      const note = button.closest("main") ? subject : "";
      return { kind: "action", name, note, keys: button.dataset.key ?? "", run: () => button.click() };
    })
    .filter(({ name }) => name !== "");
};

const entriesOfPage = (): Entry[] => [...actions(), ...pages()];

const toEntry = ({ kind, name, note, href }: PaletteRow): Entry => ({
  kind,
  name,
  note,
  keys: "",
  run: go(href),
});

/** Offers list searches for records that the palette does not know by name. */
const searchesFor = (word: string): Entry[] =>
  [
    ["Builds on branch or tag", `/app/builds?branch=${encodeURIComponent(word)}`],
    ["Search repositories for", `/app/repositories?q=${encodeURIComponent(word)}`],
    ["Search agents for", `/app/agents?q=${encodeURIComponent(word)}`],
    ["Search variables for", `/app/variables?q=${encodeURIComponent(word)}`],
  ].map(([name = "", href = ""]) => ({ kind: "page", name: `${name} "${word}"`, note: "", keys: "", run: go(href) }));

const MOST_SHOWN = 50;
const PAUSE_MS = 150;

const fetchRows = async (word: string): Promise<Entry[]> => {
  const response = await fetch(`/app/palette?q=${encodeURIComponent(word)}`, {
    headers: { Accept: "application/json" },
  });
  if (!response.ok || response.redirected) return [];
  const { rows } = (await response.json()) as { rows: PaletteRow[] };
  return rows.map(toEntry);
};

/** Finds pages, actions of this page and the organization's records by their words. */
class Palette {
  readonly #dialog = createElement("dialog", "palette") as HTMLDialogElement;
  readonly #field = createElement("input", "") as HTMLInputElement;
  readonly #list = createElement("ul", "") as HTMLUListElement;
  #entries: Entry[] = [];
  #suggestions: Entry[] = [];
  #answers: Entry[] = [];
  #options: Entry[] = [];
  #at = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.#dialog.setAttribute("aria-label", "Search and actions");
    this.#list.id = "palette-list";
    this.#list.role = "listbox";
    this.#list.setAttribute("aria-label", "Results");
    this.#field.type = "text";
    this.#field.placeholder = "Build, pipeline, agent, variable, page or action";
    this.#field.autocomplete = "off";
    this.#field.spellcheck = false;
    this.#field.role = "combobox";
    this.#field.setAttribute("aria-label", "Search and actions");
    this.#field.setAttribute("aria-expanded", "true");
    this.#field.setAttribute("aria-controls", this.#list.id);
    this.#dialog.append(this.#field, this.#list);
    document.body.append(this.#dialog);
    this.#field.addEventListener("input", () => this.#search());
    this.#field.addEventListener("keydown", (event) => this.#onKey(event));
    this.#dialog.addEventListener("click", ({ target }) => {
      if (target === this.#dialog) this.#dialog.close();
    });
  }

  toggle(): void {
    if (this.#dialog.open) {
      this.#dialog.close();
      return;
    }
    for (const open of document.querySelectorAll<HTMLElement>(":popover-open")) open.hidePopover();
    this.#field.value = "";
    this.#answers = [];
    this.#suggestions = [];
    this.#entries = entriesOfPage();
    this.#draw();
    this.#dialog.showModal();
    fetchRows("").then(
      (rows) => {
        this.#suggestions = rows;
        this.#draw();
      },
      () => undefined,
    );
  }

  #search(): void {
    this.#at = 0;
    this.#draw();
    clearTimeout(this.#timer);
    const word = this.#field.value.trim();
    this.#timer = setTimeout(async () => {
      const answers = word.length < 2 ? [] : await fetchRows(word).catch(() => []);
      if (this.#field.value.trim() !== word) return;
      this.#answers = answers;
      this.#draw();
    }, PAUSE_MS);
  }

  #onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) this.#select(this.#at + step);
    else if (event.key === "Enter") this.#run(this.#at);
    else return;
    event.preventDefault();
  }

  #run(index: number): void {
    const entry = this.#options[index];
    if (!entry) return;
    this.#dialog.close();
    entry.run();
  }

  #select(index: number): void {
    const { children } = this.#list;
    this.#at = (index + children.length) % Math.max(1, children.length);
    for (const [place, option] of [...children].entries())
      option.setAttribute("aria-selected", String(place === this.#at));
    const option = children[this.#at];
    option?.scrollIntoView({ block: "nearest" });
    this.#field.setAttribute("aria-activedescendant", option?.id ?? "");
  }

  #draw(): void {
    const word = this.#field.value.trim();
    const names = new Set<string>();
    const all = [...this.#entries, ...this.#suggestions, ...this.#answers].filter(({ kind, name, note }) => {
      const own = `${kind} ${name} ${note}`;
      return !names.has(own) && names.add(own);
    });
    const ranked = word === "" ? this.#entries : rank(all, word);
    this.#options = [...ranked.slice(0, MOST_SHOWN), ...(word === "" ? [] : searchesFor(word))];
    this.#list.replaceChildren(...this.#options.map((entry, index) => this.#option(entry, index)));
    this.#select(Math.min(this.#at, this.#options.length - 1));
  }

  #option({ kind, name, note, keys }: Entry, index: number): HTMLElement {
    const option = createElement("li", "");
    option.role = "option";
    option.id = `palette-${index}`;
    option.append(createElement("span", "palette-name", name), createElement("span", "palette-note", note));
    option.append(keys === "" ? createElement("span", "palette-kind", kind) : createElement("kbd", "", keys));
    option.addEventListener("click", () => this.#run(index));
    option.addEventListener("pointermove", () => index !== this.#at && this.#select(index));
    return option;
  }
}

/** Opens the palette on Ctrl K, or on a click on the button in the page's header. */
export const offerPalette = (): void => {
  let palette: Palette | undefined;
  const toggle = (): void => {
    palette ??= new Palette();
    palette.toggle();
  };
  for (const button of document.querySelectorAll<HTMLElement>(".to-palette")) {
    button.hidden = false;
    button.addEventListener("click", toggle);
  }
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    toggle();
  });
};
