import type { SlidingWindow } from "./sliding-window.ts";

/* Base64url (RFC 4648, section 5) differs from base64 in two characters. */
const PLUS = 0x2b;
const SLASH = 0x2f;
const MINUS = 0x2d;
const UNDERSCORE = 0x5f;

/** Maps each byte of base64url to its byte in base64, and every other byte to itself. */
export const TO_BASE64 = Uint8Array.from({ length: 256 }, (_, byte) => byte);
TO_BASE64[MINUS] = PLUS;
TO_BASE64[UNDERSCORE] = SLASH;

export const toBase64Url = (base64: Uint8Array): Uint8Array =>
  base64.map((byte) => (byte === PLUS ? MINUS : byte === SLASH ? UNDERSCORE : byte));

/** A 1 for each character of base64 and base64url, indexed by byte. */
const IS_BASE64 = new Uint8Array(256);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
  IS_BASE64[char.charCodeAt(0)] = 1;

/**
 * The number of base64 characters after which a line break counts as a wrap, so that the mask does not hold back other
 * lines.
 */
export const WRAP_MIN = 20;
/** The maximum bytes of line breaks and indentation in one wrap. */
const GAP_MAX = 64;

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32];

/** Finds the line breaks that wrap an encoded text. Positions are indices of the window. */
export class LineWraps {
  readonly #window: SlidingWindow;
  readonly #origin: number;
  readonly #runBeforeOrigin: number;

  /** `run` is the number of base64 characters directly before the window's first byte. */
  constructor(window: SlidingWindow, run: number) {
    this.#window = window;
    this.#origin = window.start;
    this.#runBeforeOrigin = run;
  }

  /** Counts the base64 characters directly before `at`, up to WRAP_MIN. */
  runBefore(at: number): number {
    const { bytes, base, start } = this.#window;
    let run = 0;
    while (run < WRAP_MIN && at - run > start - base && IS_BASE64[bytes[at - run - 1]!] === 1) run++;
    const reachesOrigin = at - run + base === this.#origin;
    return reachesOrigin ? Math.min(WRAP_MIN, run + this.#runBeforeOrigin) : run;
  }

  isWrap(at: number): boolean {
    const byte = this.#window.bytes[at]!;
    return (byte === LF || byte === CR) && this.runBefore(at) >= WRAP_MIN;
  }

  /** Returns the index of the first byte after the wrap that begins at `at`. */
  after(at: number, end: number): number {
    const { bytes } = this.#window;
    const limit = Math.min(end, at + GAP_MAX);
    let next = at + 1;
    while (next < limit && isBlank(bytes[next]!)) next++;
    return next;
  }
}

const isBlank = (byte: number): boolean => byte === LF || byte === CR || byte === SPACE || byte === TAB;
