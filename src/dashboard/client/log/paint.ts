import Anser from "anser";
import { colourAfter } from "./colours.ts";

/** Escape sequences that a page does not show: links, window titles, cursor movements. */
const OTHER_ESCAPES = /\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g;
const CONTROLS = /[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;
/** Characters of a line that are drawn. Longer lines would block the browser. */
export const MOST_CHARACTERS = 20_000;
/** Characters of a line that are searched for these; the others may be escape sequences. */
const MOST_READ = 16 * MOST_CHARACTERS;

/** The index after the last carriage return: a terminal overwrites what is before it. */
const visibleFrom = (text: string): number => text.replace(/\r+$/, "").lastIndexOf("\r") + 1;

/** The text of a line as a terminal shows it, without colours. */
export const plainText = (text: string): string =>
  text
    .slice(visibleFrom(text))
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, "")
    .replace(OTHER_ESCAPES, "")
    .replace(CONTROLS, "");

const markMatches = (text: string, needle: string): Node[] => {
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

/** The colours 16 to 255 of a terminal: a cube of 216 colours, then 24 greys. */
const paletteColour = (index: number): string => {
  if (index >= 232) return `rgb(${Array(3).fill(8 + (index - 232) * 10)})`;
  const at = index - 16;
  return `rgb(${[Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => CUBE[step])})`;
};

/** The sixteen named colours follow the theme of the page; all others are used as they are. */
const applyColour = (
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

/** Truncates without splitting a surrogate pair. */
const truncate = (text: string, room: number): string =>
  text.length <= room ? text : text.slice(0, room).replace(/[\ud800-\udbff]$/, "");

interface PaintedLine {
  nodes: Node[];
  /** The number of characters that are not drawn. */
  more: number;
}

/** A line as text nodes and coloured spans. `before` is the sequence of the colours in which it begins. */
export const paintLine = (text: string, needle: string, before = ""): PaintedLine => {
  const from = visibleFrom(text);
  const on = colourAfter(before, text.slice(0, from));
  const line = text
    .slice(from, from + MOST_READ)
    .replace(OTHER_ESCAPES, "")
    .replace(CONTROLS, "");
  const parts = Anser.ansiToJson(on + line, { json: true, use_classes: true, remove_empty: true });
  let room = MOST_CHARACTERS;
  const nodes = parts.flatMap(({ content, fg, bg, fg_truecolor, bg_truecolor, decorations }) => {
    const shown = truncate(content.replaceAll("\x1b", ""), room);
    room -= shown.length;
    const inner = shown === "" ? [] : markMatches(shown, needle);
    if (inner.length === 0 || (!fg && !bg && decorations.length === 0)) return inner;
    const span = document.createElement("span");
    applyColour(span, "color", fg, fg_truecolor);
    applyColour(span, "backgroundColor", bg, bg_truecolor);
    for (const decoration of decorations) span.classList.add(`ansi-${decoration}`);
    span.append(...inner);
    return [span];
  });
  return { nodes, more: text.length - from > MOST_CHARACTERS ? plainText(text).length - (MOST_CHARACTERS - room) : 0 };
};
