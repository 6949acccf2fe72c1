import { LineWraps, WRAP_MIN } from "./base64.ts";
import { MaskDictionary } from "./dictionary.ts";
import { Filter } from "./filter.ts";
import { groupedForms } from "./forms.ts";
import { type Needles, Scanner } from "./scanner.ts";
import { SlidingWindow } from "./sliding-window.ts";

/*
 * The mask replaces secrets in a stream of bytes with `***`. The files of this folder work together as follows.
 *
 * `compile` prepares a set of secrets, once for all streams:
 * - forms.ts lists the byte strings in which a program may print each secret: the value itself, its lines, base64, hex,
 *   and the escapes of escapes.ts. Each byte string is a needle. Base64 and hex needles are "wrapped": programs break
 *   such text into lines, so line breaks may cut them. All others are "plain" and match byte for byte.
 * - dictionary.ts sorts the needles, with one dictionary for each kind. Needles with a common beginning are neighbours,
 *   so one range of the list holds all needles that match the text read so far.
 * - filter.ts has a bit for each hash of four bytes that may occur near the beginning of a needle. It rules out most of
 *   the text without a search in the dictionaries.
 *
 * A `Masker` then reads one stream in chunks:
 * - sliding-window.ts keeps the bytes that are not released yet, because they may begin a secret.
 * - scanner.ts gets the next position where a needle may begin from the filter. From there, a cursor for each
 *   dictionary compares byte by byte and narrows its range until nothing matches. The longest needle is a hit.
 * - base64.ts says which line breaks the cursor of wrapped needles can skip, and reads base64url as base64.
 * - fingerprints.ts keeps the time linear. Repetitive text, such as a long `AAAA`, would otherwise be compared again
 *   from each of its bytes. The dictionary has a checkpoint after every 64 bytes of a needle, found by the fingerprint
 *   of these bytes. The text has fingerprints, too, and the cursor leaps to the farthest checkpoint that the text
 *   reaches.
 * - The masker joins overlapping hits, writes one `***` for each group, and releases the bytes before the position that
 *   the scanner has settled. Another masker needs only `position` to resume there.
 */

/** The text that replaces a secret. */
const MASK = "***";

type Secrets = Iterable<string | Uint8Array>;

/** A masker's position in the stream, from which another masker can resume. */
export interface MaskerPosition {
  /** The number of input bytes that the masker has released. */
  readonly offset: number;
  /** The offset at which the last mask ends, possibly after `offset`; -1 before the first mask. */
  readonly covered: number;
  /** The number of base64 characters directly before `offset`, at most WRAP_MIN. */
  readonly run: number;
}

/** Bytes in one slice of input. The scanner searches input in slices to limit memory. */
const SLICE = 64 * 1024;
const MASK_BYTES = new TextEncoder().encode(MASK);

const isNeedles = (secrets: Secrets | Needles): secrets is Needles => "plain" in secrets;

/**
 * Prepares the search for secrets. This is expensive, but many maskers can share the result. The search also finds
 * `earlierNeedles`.
 */
export const compile = (secrets: Secrets, earlierNeedles?: Needles): Needles => {
  const forms = groupedForms(secrets);
  const plain = new MaskDictionary([...forms.plain, ...(earlierNeedles?.plain.needles() ?? [])]);
  const wrapped = new MaskDictionary([...forms.wrapped, ...(earlierNeedles?.wrapped.needles() ?? [])]);
  return { plain, wrapped, filter: new Filter(plain, wrapped) };
};

/**
 * Replaces all forms of all secrets in a stream with `***`, even across chunks. Overlapping forms become one mask.
 * Holds back only bytes that may begin a secret. Takes time linear in the input.
 */
export class Masker {
  #needles: Needles;
  readonly #window: SlidingWindow;
  readonly #wraps: LineWraps;
  #scanner: Scanner;
  /** Hits that the masker has not released yet, ascending. */
  #spans: { start: number; end: number }[] = [];
  #offset: number;
  #covered: number;
  #hits = 0;
  #out = new SlidingWindow(0);

  constructor(secrets: Secrets | Needles, resume: MaskerPosition = { offset: 0, covered: -1, run: 0 }) {
    this.#needles = isNeedles(secrets) ? secrets : compile(secrets);
    this.#offset = resume.offset;
    this.#covered = resume.covered;
    this.#window = new SlidingWindow(resume.offset);
    this.#wraps = new LineWraps(this.#window, resume.run);
    this.#scanner = new Scanner(this.#needles, this.#window, this.#wraps, resume.offset);
  }

  /** Adds input and returns the output that is ready. */
  push(chunk: Uint8Array): Uint8Array {
    for (let at = 0; at < chunk.length; at += SLICE) {
      this.#window.append(chunk.subarray(at, at + SLICE));
      this.#search(false);
    }
    return this.#take();
  }

  /** Ends the stream and returns the rest of the output. */
  end(): Uint8Array {
    this.#search(true);
    return this.#take();
  }

  /** Adds secrets, for the bytes held back and all later ones. */
  add(secrets: Secrets): void {
    this.#needles = compile(secrets, this.#needles);
    this.#scanner = new Scanner(this.#needles, this.#window, this.#wraps, this.#offset);
    this.#spans = [];
  }

  get position(): MaskerPosition {
    const run = this.#wraps.runBefore(this.#offset - this.#window.base);
    return { offset: this.#offset, covered: this.#covered, run };
  }

  /** The number of masks written. */
  get hits(): number {
    return this.#hits;
  }

  #search(final: boolean): void {
    this.#scanner.scan(final, (start, end) => {
      const last = this.#spans.at(-1);
      if (last && start <= last.end) last.end = Math.max(last.end, end);
      else this.#spans.push({ start, end });
    });
    this.#release(this.#scanner.settled);
  }

  /** Writes the output before `until`. The scanner has found every needle that begins there. */
  #release(until: number): void {
    for (const { start, end } of this.#spans) {
      this.#pass(start);
      if (start > this.#covered) {
        this.#out.append(MASK_BYTES);
        this.#hits++;
      }
      this.#covered = Math.max(this.#covered, end);
    }
    this.#spans = [];
    this.#pass(until);
    this.#window.drop(until - WRAP_MIN);
  }

  /** Writes the bytes before `until` that no mask covers. */
  #pass(until: number): void {
    const from = Math.max(this.#offset, this.#covered);
    if (from < until) this.#out.append(this.#window.slice(from, until));
    this.#offset = Math.max(this.#offset, until);
  }

  #take(): Uint8Array {
    const { start, end } = this.#out;
    const bytes = this.#out.slice(start, end).slice();
    this.#out.drop(end);
    return bytes;
  }
}

/** Masks a whole text at once. */
export const maskText = (secrets: Secrets | Needles, text: string): string => {
  const masker = new Masker(secrets);
  const parts = [masker.push(new TextEncoder().encode(text)), masker.end()];
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  return parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
};
