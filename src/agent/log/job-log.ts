import { withoutEnd } from "../../domain/text.ts";
import { compile, Masker, maskText } from "../../mask/mask.ts";
import type { Needles } from "../../mask/scanner.ts";

/** Receives the masked bytes. */
interface LogSink {
  readonly size: number;
  /** `mayWait` says that these bytes may wait for later ones. */
  write(bytes: Uint8Array, mayWait?: boolean): void;
}

/** The only way to write to a build's log. Masks all text before anything stores it. */
export class JobLog {
  readonly #sink: LogSink;
  readonly #onError: (error: unknown) => void;
  readonly #secrets: Set<string>;
  #needles: Needles;
  #masker: Masker;
  #atLineStart = true;

  /** `onError` gets the sink's errors, such as a full disk. The log then continues without the failed bytes. */
  constructor(secrets: Iterable<string>, sink: LogSink, onError: (error: unknown) => void) {
    this.#sink = sink;
    this.#onError = onError;
    this.#secrets = new Set(secrets);
    this.#needles = compile(this.#secrets);
    this.#masker = new Masker(this.#needles);
  }

  write(bytes: Uint8Array): void {
    this.#write(bytes, false);
  }

  /** Writes an agent message on its own line. */
  say(text: string): void {
    this.#write(new TextEncoder().encode(`${this.#newLine}${withoutEnd(text, "\n")}\n`), true);
  }

  /** Starts a section with a title line. @returns the byte offset of that line */
  begin(title: string): number {
    this.#write(new TextEncoder().encode(this.#newLine), true);
    const offset = this.flush();
    this.say(`--- ${title}`);
    return offset;
  }

  get #newLine(): string {
    return this.#atLineStart ? "" : "\n";
  }

  /** Returns the values that are not masked yet. */
  unmasked(secrets: string[]): string[] {
    return secrets.filter((secret) => secret !== "" && !this.#secrets.has(secret));
  }

  /** Masks these values from now on. @returns the newly masked values */
  addSecrets(secrets: string[]): string[] {
    const added = this.unmasked(secrets);
    if (added.length === 0) return added;
    for (const secret of added) this.#secrets.add(secret);
    this.#needles = compile(added, this.#needles);
    this.#masker.add(added);
    return added;
  }

  mask(text: string): string {
    return maskText(this.#needles, text);
  }

  /** Writes the text held back because a secret may start there. @returns the log's length in bytes */
  flush(): number {
    this.#keep(this.#masker.end(), true);
    this.#masker = new Masker(this.#needles);
    return this.#sink.size;
  }

  #write(bytes: Uint8Array, mayWait: boolean): void {
    if (bytes.length === 0) return;
    this.#atLineStart = bytes.at(-1) === 0x0a;
    this.#keep(this.#masker.push(bytes), mayWait);
  }

  #keep(bytes: Uint8Array, mayWait: boolean): void {
    try {
      if (bytes.length > 0) this.#sink.write(bytes, mayWait);
    } catch (error) {
      this.#onError(error);
    }
  }
}
