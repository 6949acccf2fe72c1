import Anser from "anser";

/** What a terminal would act on and a page shows nothing of: links, titles, cursor movements. */
const OTHER_ESCAPES = /\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g;
const CONTROLS = /[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;
/** Characters of one line that are drawn: more would stop the page. */
const WIDEST = 20_000;

/** As a terminal leaves it: what was written after the last return to the line's beginning. */
const settled = (text: string): string => text.replace(/\r+$/, "").split("\r").at(-1) ?? "";

export const plain = (text: string): string =>
  settled(text)
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

/** One line's text with its colours; never markup of its own. */
export const paint = (text: string, needle: string): Node[] => {
  const line = settled(text).slice(0, WIDEST).replace(OTHER_ESCAPES, "").replace(CONTROLS, "");
  if (!line.includes("\x1b")) return marked(line, needle);
  const parts = Anser.ansiToJson(line, { json: true, use_classes: true, remove_empty: true });
  return parts.flatMap(({ content, fg, bg, fg_truecolor, bg_truecolor, decorations }) => {
    const nodes = marked(content.replaceAll("\x1b", ""), needle);
    if (!fg && !bg && decorations.length === 0) return nodes;
    const span = document.createElement("span");
    colour(span, "color", fg, fg_truecolor);
    colour(span, "backgroundColor", bg, bg_truecolor);
    for (const decoration of decorations) span.classList.add(`ansi-${decoration}`);
    span.append(...nodes);
    return [span];
  });
};
