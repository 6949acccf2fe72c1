/** The start and the end of each kind of part without references. */
const PLAIN = [
  ["<![CDATA[", "]]>"],
  ["<!--", "-->"],
  ["<?", "?>"],
] as const;
const SIGN = /[&<]/g;
const REFERENCE = /&(?:#(?:[xX]([0-9a-fA-F]{1,8})|(\d{1,8}))|[A-Za-z_:][\w:.-]{0,59});/y;
/** The number of characters to look ahead, to know which part begins here. */
const AHEAD = 64;

/** Reports whether XML 1.0, section 2.2, allows this character. */
const isCharacter = (code: number): boolean =>
  (code >= 0x20 && code <= 0xd7ff) ||
  (code >= 0xe000 && code <= 0xfffd) ||
  (code >= 0x10000 && code <= 0x10ffff) ||
  [0x09, 0x0a, 0x0d].includes(code);

/**
 * Repairs references that tools write wrongly: an `&` that stands for itself, and the number of a character that XML
 * forbids, such as the escape of a colour. Reads a text in pieces, and reads each character once.
 */
export class ReferenceRepair {
  readonly #onRepair: () => void;
  /** The unread end of the earlier pieces. */
  #remainder = "";
  /** The end of the current part without references. */
  #until: string | null = null;
  /** How far the current text was read. */
  #readTo = 0;

  constructor(onRepair: () => void) {
    this.#onRepair = onRepair;
  }

  push(piece: string, isLast = false): string {
    const text = this.#remainder + piece;
    const parts: string[] = [];
    let at = 0;
    for (;;) {
      const next = this.#until === null ? this.#signed(text, at, isLast, parts) : this.#plain(text, at, isLast, parts);
      if (next === null) break;
      at = next;
    }
    this.#remainder = text.slice(this.#readTo);
    return parts.join("");
  }

  /** Reads to the end of a part without references. @returns where to continue; null if the piece ends first */
  #plain(text: string, at: number, isLast: boolean, parts: string[]): number | null {
    const until = this.#until ?? "";
    const end = text.indexOf(until, at);
    const to = end >= 0 ? end + until.length : isLast ? text.length : Math.max(at, text.length - until.length + 1);
    parts.push(text.slice(at, to));
    this.#readTo = to;
    if (end < 0) return null;
    this.#until = null;
    return to;
  }

  /** Reads up to the next sign, inclusive. */
  #signed(text: string, at: number, isLast: boolean, parts: string[]): number | null {
    SIGN.lastIndex = at;
    const sign = SIGN.exec(text)?.index ?? text.length;
    parts.push(text.slice(at, sign));
    this.#readTo = sign;
    if (sign === text.length || (!isLast && text.length - sign < AHEAD)) return null;
    const [read, replacement] = text[sign] === "<" ? this.#markup(text, sign) : this.#reference(text, sign);
    parts.push(replacement);
    this.#readTo = sign + read;
    return this.#readTo;
  }

  #markup(text: string, at: number): [read: number, replacement: string] {
    const [begin = "<", until = null] = PLAIN.find(([opening]) => text.startsWith(opening, at)) ?? [];
    this.#until = until;
    return [begin.length, begin];
  }

  #reference(text: string, at: number): [read: number, replacement: string] {
    REFERENCE.lastIndex = at;
    const [whole, hex, digits] = REFERENCE.exec(text) ?? [];
    if (whole !== undefined) {
      const code = hex === undefined ? digits && Number(digits) : Number.parseInt(hex, 16);
      if (typeof code !== "number" || isCharacter(code)) return [whole.length, whole];
    }
    this.#onRepair();
    return whole === undefined ? [1, "&amp;"] : [whole.length, "\ufffd"];
  }
}
