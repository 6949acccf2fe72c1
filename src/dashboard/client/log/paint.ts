import Anser from "anser";
import { colourAfter } from "./colours.ts";

/** What a terminal would act on and a page shows nothing of: links, titles, cursor movements. */
const OTHER_ESCAPES = /\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g;
const CONTROLS = /[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;
/** Characters of one line that are drawn: more would stop the page. */
export const WIDEST = 20_000;
/** Characters that are looked at for those; the others of such a line are escapes. */
const MOST_READ = 16 * WIDEST;

/** Where what a terminal leaves of the line begins: behind the last return to its beginning. */
const settledAt = (text: string): number => text.replace(/\r+$/, "").lastIndexOf("\r") + 1;

export const plain = (text: string): string =>
  text
    .slice(settledAt(text))
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, "")
    .replace(OTHER_ESCAPES, "")
    .replace(CONTROLS, "");

const marked = (text: string, needle: string): Node[] => {
  if (needle === "") return [new Text(text)];
  const nodes: Node[] = [];
  const lower = text.toLowerCase();
  let from = 0;
  for (let at = lower.indexOf(needle); at !== -1; at = lower.indexOf(needle, from)) {
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, at + needle.length);
    nodes.push(new Text(text.slice(from, at)), mark);
    from = at + needle.length;
  }
  nodes.push(new Text(text.slice(from)));
  return nodes;
};

const CUBE = [0, 95, 135, 175, 215, 255];

/** The colours 16 to 255 of a terminal: a cube and a ramp of greys. */
const paletteColour = (index: number): string => {
  if (index >= 232) return `rgb(${Array(3).fill(8 + (index - 232) * 10)})`;
  const at = index - 16;
  return `rgb(${[Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => CUBE[step])})`;
};

/** The sixteen names follow the theme; what a log mixes itself stays as it is. */
const colour = (
  element: HTMLElement,
  property: "color" | "backgroundColor",
  name: string | null,
  rgb: string,
): void => {
  if (!name) return;
  const [, palette] = /^ansi-palette-(\d+)$/.exec(name) ?? [];
  if (palette) element.style[property] = paletteColour(Number(palette));
  else if (name === "ansi-truecolor") element.style[property] = `rgb(${rgb})`;
  else element.classList.add(property === "color" ? name : `${name}-bg`);
};

/** So much of the text as there is room for, and no half character. */
const cut = (text: string, room: number): string =>
  text.length <= room ? text : text.slice(0, room).replace(/[\ud800-\udbff]$/, "");

interface Painted {
  nodes: Node[];
  /** Characters that are not drawn. */
  more: number;
}

/** One line's text with its colours, those included that are on `before` it; never markup of its own. */
export const paint = (text: string, needle: string, before = ""): Painted => {
  const from = settledAt(text);
  const on = colourAfter(before, text.slice(0, from));
  const line = text
    .slice(from, from + MOST_READ)
    .replace(OTHER_ESCAPES, "")
    .replace(CONTROLS, "");
  const parts = Anser.ansiToJson(on + line, { json: true, use_classes: true, remove_empty: true });
  let room = WIDEST;
  const nodes = parts.flatMap(({ content, fg, bg, fg_truecolor, bg_truecolor, decorations }) => {
    const shown = cut(content.replaceAll("\x1b", ""), room);
    room -= shown.length;
    const inner = shown === "" ? [] : marked(shown, needle);
    if (inner.length === 0 || (!fg && !bg && decorations.length === 0)) return inner;
    const span = document.createElement("span");
    colour(span, "color", fg, fg_truecolor);
    colour(span, "backgroundColor", bg, bg_truecolor);
    for (const decoration of decorations) span.classList.add(`ansi-${decoration}`);
    span.append(...inner);
    return [span];
  });
  return { nodes, more: text.length - from > WIDEST ? plain(text).length - (WIDEST - room) : 0 };
};
