import { compile, Masker, maskText, type Needles } from "../../domain/mask/mask.ts";

/** Where the masked bytes go. */
export interface LogSink {
  readonly size: number;
  write(bytes: Uint8Array): void;
}

/** The one way into a build's log: whatever is written is masked before it is kept anywhere. */
export class BuildLog {
  readonly #sink: LogSink;
  readonly #onTrouble: (error: unknown) => void;
  readonly #known: Set<string>;
  #needles: Needles;
  #masker: Masker;
  #atLineStart = true;

  /** `onTrouble` hears of a sink that takes no more, a full disk for one; the log then goes on without it. */
  constructor(secrets: Iterable<string>, sink: LogSink, onTrouble: (error: unknown) => void) {
    this.#sink = sink;
    this.#onTrouble = onTrouble;
    this.#known = new Set(secrets);
    this.#needles = compile(this.#known);
    this.#masker = new Masker(this.#needles);
  }

  write(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#atLineStart = bytes.at(-1) === 0x0a;
    this.#keep(this.#masker.push(bytes));
  }

  /** The agent's own words, on lines of their own. */
  say(text: string): void {
    const line = `${this.#atLineStart ? "" : "\n"}${text.replace(/\n*$/, "\n")}`;
    this.write(new TextEncoder().encode(line));
  }

  /** Begins a part of the log with a line that names it. @returns where in the log that line begins, in bytes */
  begin(title: string): number {
    if (!this.#atLineStart) this.write(new TextEncoder().encode("\n"));
    const offset = this.flush();
    this.say(`--- ${title}`);
    return offset;
  }

  /** Values masked from here on. @returns those that were not masked already. */
  addSecrets(secrets: string[]): string[] {
    const fresh = secrets.filter((secret) => secret !== "" && !this.#known.has(secret));
    if (fresh.length === 0) return fresh;
    for (const secret of fresh) this.#known.add(secret);
    this.#needles = compile(fresh, this.#needles);
    this.#masker.add(fresh);
    return fresh;
  }

  mask(text: string): string {
    return maskText(this.#needles, text);
  }

  /** Lets go what may have begun a secret. @returns the log's length in bytes. */
  flush(): number {
    this.#keep(this.#masker.end());
    this.#masker = new Masker(this.#needles);
    return this.#sink.size;
  }

  #keep(bytes: Uint8Array): void {
    try {
      if (bytes.length > 0) this.#sink.write(bytes);
    } catch (error) {
      this.#onTrouble(error);
    }
  }
}
