import { Dictionary } from "./dictionary.ts";
import { formsApart } from "./forms.ts";
import { Scanner } from "./scanner.ts";
import { Unwrapped } from "./unwrapped.ts";
import { Window } from "./window.ts";

export { formsOf } from "./forms.ts";

/** What stands in the place of a secret. */
export const MASK = "***";

/** The needles of a set of secrets; immutable, so that many maskers may share them. */
export interface Needles {
  readonly plain: Dictionary;
  readonly wrapped: Dictionary;
}

export type Secrets = Iterable<string | Uint8Array>;

/** Where a masker stands: all that another one needs to go on at the same byte of the input. */
export interface MaskerPosition {
  /** Bytes of the input that were let go. */
  readonly offset: number;
  /** Up to which byte of the input the last mask reaches, possibly beyond `offset`; -1 before the first mask. */
  readonly covered: number;
  /** Characters of base64 right before `offset`, as far as they matter. */
  readonly run: number;
}

interface Span {
  start: number;
  end: number;
}

/** Input is taken in slices of this many bytes, so that memory stays small whatever is pushed. */
const SLICE = 64 * 1024;
const MASK_BYTES = new TextEncoder().encode(MASK);

const isNeedles = (secrets: Secrets | Needles): secrets is Needles => "plain" in secrets;

/** Prepares the search for secrets, the costly part of a masker. */
export const compile = (secrets: Secrets, known?: Needles): Needles => {
  const { plain, wrapped } = formsApart(secrets);
  return {
    plain: new Dictionary([...plain, ...(known?.plain.needles() ?? [])]),
    wrapped: new Dictionary([...wrapped, ...(known?.wrapped.needles() ?? [])]),
  };
};

/**
 * Replaces the union of all forms of all secrets in a stream by `***`, wherever chunks are cut. Holds back only what
 * may begin a secret; time is linear in the input.
 */
export class Masker {
  #needles: Needles;
  readonly #raw: Window;
  readonly #unwrapped: Unwrapped;
  #plain: Scanner;
  #wrapped: Scanner;
  /** Found and not yet let go, by start, of each scanner. */
  #spans: [Span[], Span[]] = [[], []];
  #offset: number;
  #covered: number;
  #hits = 0;
  #out = new Window(0);

  constructor(secrets: Secrets | Needles, resume: MaskerPosition = { offset: 0, covered: -1, run: 0 }) {
    this.#needles = isNeedles(secrets) ? secrets : compile(secrets);
    this.#offset = resume.offset;
    this.#covered = resume.covered;
    this.#raw = new Window(resume.offset);
    this.#unwrapped = new Unwrapped(resume.offset, resume.run);
    this.#plain = new Scanner(this.#needles.plain, resume.offset);
    this.#wrapped = new Scanner(this.#needles.wrapped, resume.offset);
  }

  /** Takes bytes and gives those that may be let go. */
  push(chunk: Uint8Array): Uint8Array {
    for (let at = 0; at < chunk.length; at += SLICE) {
      const slice = chunk.subarray(at, at + SLICE);
      this.#raw.append(slice);
      this.#unwrapped.append(slice);
      this.#search(false);
    }
    return this.#take();
  }

  /** The stream has ended: gives what was held back. */
  end(): Uint8Array {
    this.#search(true);
    return this.#take();
  }

  /** These secrets count for every byte not yet let go, and for all later ones. */
  add(secrets: Secrets): void {
    this.#needles = compile(secrets, this.#needles);
    this.#plain = new Scanner(this.#needles.plain, this.#offset);
    this.#wrapped = new Scanner(this.#needles.wrapped, this.#unwrapped.window.start);
    this.#spans = [[], []];
  }

  get position(): MaskerPosition {
    return { offset: this.#offset, covered: this.#covered, run: this.#unwrapped.run };
  }

  /** How many masks were written. */
  get hits(): number {
    return this.#hits;
  }

  #search(final: boolean): void {
    const view = this.#unwrapped;
    this.#plain.scan(this.#raw, final, (start, end) => {
      join(this.#spans[0], start, end);
    });
    this.#wrapped.scan(view.window, final, (start, end) => {
      join(this.#spans[1], view.streamOffset(start), view.streamOffset(end - 1) + 1);
    });
    this.#release(Math.min(this.#plain.settled, view.streamOffset(this.#wrapped.settled)));
  }

  /** Writes out all before `until`, where everything that begins has been found. */
  #release(until: number): void {
    const [first, second] = this.#spans;
    while (true) {
      const from = first[0] && !(second[0] && second[0].start < first[0].start) ? first : second;
      const span = from[0];
      if (!span || span.start > until) break;
      from.shift();
      this.#pass(span.start);
      if (span.start > this.#covered) {
        this.#out.append(MASK_BYTES);
        this.#hits++;
      }
      this.#covered = Math.max(this.#covered, span.end);
    }
    this.#pass(until);
    this.#offset = until;
    this.#raw.drop(until);
    this.#unwrapped.drop(until);
  }

  /** Lets the bytes up to here through, but for what a mask covers. */
  #pass(until: number): void {
    const from = Math.max(this.#offset, this.#covered);
    if (from < until) this.#out.append(this.#raw.slice(from, until));
    this.#offset = Math.max(this.#offset, until);
  }

  #take(): Uint8Array {
    const out = this.#out;
    const bytes = out.slice(out.start, out.end).slice();
    out.drop(out.end);
    return bytes;
  }
}

const join = (spans: Span[], start: number, end: number): void => {
  const last = spans.at(-1);
  if (last && start <= last.end) last.end = Math.max(last.end, end);
  else spans.push({ start, end });
};

/** Masks a whole text at once. */
export const maskText = (secrets: Secrets | Needles, text: string): string => {
  const masker = new Masker(secrets);
  const parts = [masker.push(new TextEncoder().encode(text)), masker.end()];
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  return parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
};
