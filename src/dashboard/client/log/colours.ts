import type { LogStore } from "./log-store.ts";

/** How far apart what was noted lies, at most: what is between is read again. */
const LINES_APART = 256;
const BYTES_APART = 1 << 16;

const SGR = /\x1b\[([\d;]*)m/g;
const STYLES = new Set(["1", "2", "3", "4", "5", "7", "8", "9"]);
const ENDS: Record<string, string[]> = {
  "22": ["1", "2"],
  "23": ["3"],
  "24": ["4"],
  "25": ["5"],
  "27": ["7"],
  "28": ["8"],
  "29": ["9"],
};

/** What colours and styles are on after the text, as the shortest sequence that turns them on. */
export const colourAfter = (before: string, text: string): string => {
  if (!text.includes("\x1b[")) return before;
  const reset = Math.max(text.lastIndexOf("\x1b[0m"), text.lastIndexOf("\x1b[m"));
  const told = reset === -1 ? before + text : text.slice(reset);
  let foreground = "";
  let background = "";
  const styles = new Set<string>();
  for (const [, given = ""] of told.matchAll(SGR)) {
    const codes = given.split(";").map((code) => code.replace(/^0+(?=\d)/, "") || "0");
    for (let at = 0; at < codes.length; at += 1) {
      const code = codes[at] ?? "";
      const mixed = code === "38" || code === "48" ? codes.slice(at, at + (codes[at + 1] === "2" ? 5 : 3)) : null;
      if (mixed) at += mixed.length - 1;
      const colour = (mixed ?? [code]).join(";");
      if (code === "0") {
        foreground = background = "";
        styles.clear();
      } else if (STYLES.has(code)) styles.add(code);
      else if (ENDS[code]) for (const style of ENDS[code]) styles.delete(style);
      else if (/^(?:3[0-8]|9[0-7])$/.test(code)) foreground = colour;
      else if (/^(?:4[0-8]|10[0-7])$/.test(code)) background = colour;
      else if (code === "39") foreground = "";
      else if (code === "49") background = "";
    }
  }
  const on = [...styles, foreground, background].filter(Boolean);
  return on.length > 0 ? `\x1b[${on.join(";")}m` : "";
};

interface Note {
  line: number;
  colour: string;
}

const BEGINNING: Note = { line: 0, colour: "" };

/** The colours in which each line begins: those that the lines before it, of the same step, have left on. */
export class Colours {
  readonly #store: LogStore;
  #generation = 0;
  /** First lines of steps, ascending: each begins plain. */
  #begins: number[] = [];
  /** Some lines, ascending, whose colours need not be found again. */
  #noted = [BEGINNING];
  #last = BEGINNING;

  constructor(store: LogStore) {
    this.#store = store;
  }

  /** Takes in where steps begin, and reads what has come since, so that no jump to the end has to. */
  update(begins: number[]): void {
    if (this.#store.generation !== this.#generation) this.#forget(0);
    const moved = new Set(begins).symmetricDifference(new Set(this.#begins));
    if (moved.size > 0) this.#forget(Math.min(...moved));
    this.#generation = this.#store.generation;
    this.#begins = begins;
    this.before(Math.max(0, this.#store.count - 1));
  }

  #forget(from: number): void {
    this.#noted = [BEGINNING, ...this.#noted.slice(1).filter(({ line }) => line < from)];
    this.#last = BEGINNING;
  }

  /** The sequence that turns on what is on where the line begins. */
  before(line: number): string {
    let { line: at, colour } = this.#nearest(line);
    while (at < line) {
      const begin = this.#begins.find((each) => each > at);
      const end = Math.min(line, begin ?? line, at + LINES_APART, this.#lineFarFrom(at));
      colour = end === begin ? "" : colourAfter(colour, this.#store.text(at, end));
      at = end;
      const noted = this.#noted.at(-1) ?? BEGINNING;
      if (at >= noted.line + LINES_APART || at >= this.#lineFarFrom(noted.line)) this.#noted.push({ line: at, colour });
    }
    this.#last = { line, colour };
    return colour;
  }

  #nearest(line: number): Note {
    const { line: last } = this.#last;
    if (last <= line && line - last < LINES_APART) return this.#last;
    return this.#noted.findLast((note) => note.line <= line) ?? BEGINNING;
  }

  /** The first line that begins so many bytes behind this one that reading them again would take long. */
  #lineFarFrom(line: number): number {
    return Math.max(line + 1, this.#store.lineAt(this.#store.start(line) + BYTES_APART));
  }
}
