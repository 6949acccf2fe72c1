import Anser from "anser";
import { afterBackspaces, settledFrom, settledLine } from "../../../protocol/settled-line.ts";
import { colourAfter, cssOf, inBothThemes, type Rgb, readableOn } from "./colours.ts";
import { markLinks, splitAtLinks } from "./links.ts";

/** Escape sequences that the page omits, such as window titles and cursor movements. */
const OTHER_ESCAPES = /\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g;
/** Control characters except our link marks, which a log never contains. */
const CONTROLS = /[\x00\x03-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;
const MARKS = /[\x01\x02]/g;
/** The maximum number of characters that the page draws in a line. More characters would block the browser. */
export const MOST_CHARACTERS = 20_000;
/**
 * The maximum number of characters that the page reads for these drawn characters. The others may be escape sequences.
 */
const MOST_READ = 16 * MOST_CHARACTERS;

/** Returns a line's text as a terminal shows it, without colours. */
export const visibleText = (text: string): string =>
  settledLine(text)
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, "")
    .replace(OTHER_ESCAPES, "")
    .replace(CONTROLS, "")
    .replace(MARKS, "");

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

const linkTo = (href: string, nodes: Node[]): HTMLElement => {
  const link = document.createElement("a");
  link.href = href;
  link.rel = "noopener noreferrer";
  link.target = "_blank";
  link.title = href;
  link.append(...nodes);
  return link;
};

const CUBE = [0, 95, 135, 175, 215, 255];

/** Returns a terminal's colour from 16 to 255: a cube of 216 colours, then 24 greys. */
const paletteColour = (index: number): Rgb => {
  if (index >= 232) return Array(3).fill(8 + (index - 232) * 10) as Rgb;
  const at = index - 16;
  return [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => CUBE[step]) as Rgb;
};

/** Returns a terminal's colour; null for the sixteen named colours. */
const mixedColour = (name: string | null, rgb: string | null): Rgb | null => {
  const [, palette] = /^ansi-palette-(\d+)$/.exec(name ?? "") ?? [];
  if (palette) return paletteColour(Number(palette));
  if (name !== "ansi-truecolor") return null;
  return (rgb ?? "").split(",").map((part) => Math.min(255, Number(part) || 0)) as Rgb;
};

interface Colour {
  fg: string | null;
  bg: string | null;
  fg_truecolor: string | null;
  bg_truecolor: string | null;
}

/**
 * Applies colours. The sixteen named colours follow the page's theme. Other colours change only as far as readability
 * requires.
 */
const applyColours = (element: HTMLElement, { fg, bg, fg_truecolor, bg_truecolor }: Colour): void => {
  const [text, ground] = [mixedColour(fg, fg_truecolor), mixedColour(bg, bg_truecolor)];
  if (ground) {
    element.style.backgroundColor = cssOf(ground);
    element.style.color = cssOf(readableOn(text ?? [255, 255, 255], ground));
  } else if (bg) element.classList.add(`${bg}-bg`);
  else if (text) element.style.color = inBothThemes(text);
  else if (fg) element.classList.add(fg);
};

/** Truncates a text without splitting a surrogate pair. */
const truncate = (text: string, room: number): string =>
  text.length <= room ? text : text.slice(0, room).replace(/[\ud800-\udbff]$/, "");

interface PaintedLine {
  nodes: Node[];
  /** The number of characters that the page does not draw. */
  more: number;
}

/**
 * Returns a line as text nodes, links and coloured spans. `before` is the sequence that sets the line's initial
 * colours.
 */
export const paintLine = (text: string, needle: string, before = ""): PaintedLine => {
  const from = settledFrom(text);
  const on = colourAfter(before, text.slice(0, from));
  const { text: marked, links } = markLinks(afterBackspaces(text.slice(from, from + MOST_READ)).replace(MARKS, ""));
  const line = marked.replace(OTHER_ESCAPES, "").replace(CONTROLS, "");
  const parts = Anser.ansiToJson(on + line, { json: true, use_classes: true, remove_empty: true });
  let room = MOST_CHARACTERS;
  let open: string | null = null;
  const nodes = parts.flatMap(({ content, decorations, ...colour }) => {
    const split = splitAtLinks(content.replaceAll("\x1b", ""), links, open);
    open = split.open;
    const inner = split.parts.flatMap((part) => {
      const drawnText = truncate(part.text, room);
      room -= drawnText.length;
      if (drawnText === "") return [];
      const textNodes = markMatches(drawnText, needle);
      return part.href === null ? textNodes : [linkTo(part.href, textNodes)];
    });
    if (inner.length === 0 || (!colour.fg && !colour.bg && decorations.length === 0)) return inner;
    const span = document.createElement("span");
    if (!decorations.includes("reverse")) applyColours(span, colour);
    for (const decoration of decorations) span.classList.add(`ansi-${decoration}`);
    span.append(...inner);
    return [span];
  });
  return {
    nodes,
    more: text.length - from > MOST_CHARACTERS ? visibleText(text).length - (MOST_CHARACTERS - room) : 0,
  };
};
