import { LineWraps, WRAP_MIN } from "./base64.ts";
import { MaskDictionary } from "./dictionary.ts";
import { Filter } from "./filter.ts";
import { groupedForms } from "./forms.ts";
import { type Needles, Scanner } from "./scanner.ts";
import { SlidingWindow } from "./sliding-window.ts";

/*
 * The mask replaces secrets in a stream of bytes with `***`. This is how the files of this folder work together.
 *
 * `compile` prepares a set of secrets, once for all streams:
 * - forms.ts lists the byte strings in which a program may print each secret: the value itself, its lines, base64, hex,
 *   and the escapes of escapes.ts. Each of them is a needle. Needles in base64 and hex are "wrapped": programs break
 *   such text into lines, so line breaks may cut them. All others are "plain" and match byte for byte.
 * - dictionary.ts sorts the needles, one dictionary for each kind. Needles with a common beginning are neighbours, so
 *   that one range of the list holds all needles that fit the text read so far.
 * - filter.ts has a bit for each hash of four bytes that may stand near the beginning of a needle. It rules out most of
 *   the text without a look into the dictionaries.
 *
 * A `Masker` then reads one stream in chunks:
 * - sliding-window.ts keeps the bytes that are not yet released, because they may begin a secret.
 * - scanner.ts asks the filter for the next position where a needle may begin. From there a cursor for each dictionary
 *   compares byte by byte and narrows its range until nothing fits. The longest needle found is a hit.
 * - base64.ts tells the cursor of wrapped needles which line breaks to skip, and reads base64url as base64.
 * - fingerprints.ts keeps the time linear. Text that repeats, such as many times `AAAA`, would be compared again from
 *   each of its bytes. The dictionary has a checkpoint after every 64 bytes of a needle, found by the fingerprint of
 *   these bytes; with the fingerprints of the text the cursor leaps to the farthest checkpoint that the text reaches.
 * - The masker joins hits that overlap, writes one `***` for each group, and releases the bytes before the position
 *   that the scanner has settled. `position` is all that another masker needs to resume there.
 */

/** The text that replaces a secret. */
const MASK = "***";

type Secrets = Iterable<string | Uint8Array>;

/** The position of a masker in the stream: another masker can resume from it. */
export interface MaskerPosition {
  /** Bytes of the input that were released. */
  readonly offset: number;
  /** Offset where the last mask ends, possibly after `offset`; -1 before the first mask. */
  readonly covered: number;
  /** Number of base64 characters directly before `offset`, at most WRAP_MIN. */
  readonly run: number;
}

/** Input is searched in slices of this many bytes, to limit memory. */
const SLICE = 64 * 1024;
const MASK_BYTES = new TextEncoder().encode(MASK);

const isNeedles = (secrets: Secrets | Needles): secrets is Needles => "plain" in secrets;

/**
 * Prepares the search for secrets, which is costly; many maskers can share the result. The search also finds
 * `earlierNeedles`.
 */
export const compile = (secrets: Secrets, earlierNeedles?: Needles): Needles => {
  const forms = groupedForms(secrets);
  const plain = new MaskDictionary([...forms.plain, ...(earlierNeedles?.plain.needles() ?? [])]);
  const wrapped = new MaskDictionary([...forms.wrapped, ...(earlierNeedles?.wrapped.needles() ?? [])]);
  return { plain, wrapped, filter: new Filter(plain, wrapped) };
};

/**
 * Replaces all forms of all secrets in a stream by `***`, across chunks; overlapping ones become one mask. Holds back
 * only bytes that may begin a secret. Time is linear in the input.
 */
export class Masker {
  #needles: Needles;
  readonly #window: SlidingWindow;
  readonly #wraps: LineWraps;
  #scanner: Scanner;
  /** Found and not yet released, ascending. */
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

  /** Number of masks written. */
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

  /** Writes the output before `until`; all needles that begin there have been found. */
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
