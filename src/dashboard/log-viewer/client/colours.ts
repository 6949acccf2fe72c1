import type { LogStore } from "./log-store.ts";

/**
 * The maximum number of lines between two checkpoints. A jump to a line rereads the lines after the preceding
 * checkpoint.
 */
const LINES_BETWEEN = 256;
const BYTES_BETWEEN = 1 << 16;
/** The maximum number of bytes to read at once. A larger number would block the browser. */
const BYTES_AT_ONCE = 2 << 20;

const SGR = /\x1b\[([\d;]*)m/g;
const STYLES = new Set(["1", "2", "3", "4", "5", "7", "8", "9"]);
/** The codes that end styles. Each digit in the values is a style. */
const STYLES_ENDED_BY: Record<string, string> = {
  "22": "12",
  "23": "3",
  "24": "4",
  "25": "5",
  "27": "7",
  "28": "8",
  "29": "9",
};

/** Returns the shortest sequence that sets the colours and styles in effect after the text. */
export const colourAfter = (before: string, text: string): string => {
  if (!text.includes("\x1b[")) return before;
  const reset = Math.max(text.lastIndexOf("\x1b[0m"), text.lastIndexOf("\x1b[m"));
  const relevant = reset === -1 ? before + text : text.slice(reset);
  let foreground = "";
  let background = "";
  const styles = new Set<string>();
  for (const [, sequence = ""] of relevant.matchAll(SGR)) {
    const codes = sequence.split(";").map((code) => code.replace(/^0+(?=\d)/, "") || "0");
    for (let at = 0; at < codes.length; at += 1) {
      const code = codes[at] ?? "";
      const mixed = code === "38" || code === "48" ? codes.slice(at, at + (codes[at + 1] === "2" ? 5 : 3)) : null;
      if (mixed) at += mixed.length - 1;
      const colour = (mixed ?? [code]).join(";");
      if (code === "0") {
        foreground = background = "";
        styles.clear();
      } else if (STYLES.has(code)) styles.add(code);
      else if (STYLES_ENDED_BY[code]) for (const style of STYLES_ENDED_BY[code]) styles.delete(style);
      else if (/^(?:3[0-8]|9[0-7])$/.test(code)) foreground = colour;
      else if (/^(?:4[0-8]|10[0-7])$/.test(code)) background = colour;
      else if (code === "39") foreground = "";
      else if (code === "49") background = "";
    }
  }
  const on = [...styles, foreground, background].filter(Boolean);
  return on.length > 0 ? `\x1b[${on.join(";")}m` : "";
};

interface Checkpoint {
  line: number;
  colour: string;
}

const START: Checkpoint = { line: 0, colour: "" };

/** The colours in which each line begins, because earlier lines of its step left them on. */
export class Colours {
  readonly #store: LogStore;
  #generation = 0;
  /** The first lines of steps, in ascending order. Each of these lines begins without colours. */
  #begins: number[] = [];
  /** Lines with known colours, in ascending order. */
  #checkpoints = [START];
  #last = START;
  #isBehind = false;
  /** Increases when colours become known. */
  version = 0;

  constructor(store: LogStore) {
    this.#store = store;
  }

  /**
   * Sets where steps begin, and reads the new lines so that a jump to the end is quick. Returns whether there are more
   * lines to read. Until these lines are read, the colours of lines far beyond the last checkpoint are unknown.
   */
  update(begins: number[]): boolean {
    if (this.#store.generation !== this.#generation) this.#forget(0);
    const moved = new Set(begins).symmetricDifference(new Set(this.#begins));
    if (moved.size > 0) this.#forget(Math.min(...moved));
    this.#generation = this.#store.generation;
    this.#begins = begins;
    const { line } = this.#checkpoints.at(-1) ?? START;
    const last = Math.max(0, this.#store.count - 1);
    const end = Math.min(last, this.#store.lineAt(this.#store.start(line) + BYTES_AT_ONCE));
    this.before(end);
    const isBehind = end < last;
    if (this.#isBehind && !isBehind) this.version += 1;
    this.#isBehind = isBehind;
    return isBehind;
  }

  #forget(from: number): void {
    this.#checkpoints = [START, ...this.#checkpoints.slice(1).filter(({ line }) => line < from)];
    this.#last = START;
  }

  /** Returns the sequence that sets the colours in which the line begins. */
  before(line: number): string {
    const nearest = this.#nearest(line);
    if (this.#store.start(line) - this.#store.start(nearest.line) > 2 * BYTES_AT_ONCE) return "";
    let { line: at, colour } = nearest;
    while (at < line) {
      const begin = this.#begins.find((each) => each > at);
      const end = Math.min(line, begin ?? line, at + LINES_BETWEEN, this.#lineFarFrom(at));
      colour = end === begin ? "" : colourAfter(colour, this.#store.text(at, end));
      at = end;
      const last = this.#checkpoints.at(-1) ?? START;
      if (at >= last.line + LINES_BETWEEN || at >= this.#lineFarFrom(last.line))
        this.#checkpoints.push({ line: at, colour });
    }
    this.#last = { line, colour };
    return colour;
  }

  #nearest(line: number): Checkpoint {
    const { line: last } = this.#last;
    if (last <= line && line - last < LINES_BETWEEN) return this.#last;
    return this.#checkpoints.findLast((each) => each.line <= line) ?? START;
  }

  /** Returns the first line that begins at least `BYTES_BETWEEN` bytes after this one. */
  #lineFarFrom(line: number): number {
    return Math.max(line + 1, this.#store.lineAt(this.#store.start(line) + BYTES_BETWEEN));
  }
}

/** Red, green and blue, each from 0 to 255. */
export type Rgb = [number, number, number];

/** The minimum contrast between text and its background (WCAG 2.2, AA). */
const LEAST = 4.5;
const STEPS = 20;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

/** The background of log lines: the darkest one in the light theme, and the lightest one in the dark theme. */
export const GROUNDS: Record<"light" | "dark", Rgb> = { light: [240, 238, 224], dark: [48, 46, 36] };

const linear = (value: number): number => {
  const part = value / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};

const luminance = ([red, green, blue]: Rgb): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);

export const contrast = (one: Rgb, other: Rgb): number => {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((left, right) => right - left);
  return (light + 0.05) / (dark + 0.05);
};

const mix = (from: Rgb, to: Rgb, part: number): Rgb =>
  from.map((value, at) => Math.round(value + ((to[at] ?? 0) - value) * part)) as Rgb;

/**
 * Returns the colour if it is readable on the ground. Otherwise returns the nearest readable colour towards black or
 * white.
 */
export const readableOn = (colour: Rgb, ground: Rgb): Rgb => {
  const target = contrast(BLACK, ground) > contrast(WHITE, ground) ? BLACK : WHITE;
  for (let step = 0; step < STEPS; step += 1) {
    const mixed = mix(colour, target, step / STEPS);
    if (contrast(mixed, ground) >= LEAST) return mixed;
  }
  return target;
};

export const cssOf = (rgb: Rgb): string => `rgb(${rgb})`;

/** Returns a text colour that is readable in both themes. */
export const inBothThemes = (colour: Rgb): string =>
  `light-dark(${cssOf(readableOn(colour, GROUNDS.light))}, ${cssOf(readableOn(colour, GROUNDS.dark))})`;
