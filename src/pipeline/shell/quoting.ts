import type { Span } from "../expression/interpolation.ts";

/**
 * How a script quotes an expression: `bare` outside quotes, `quoted` in double quotes, `heredoc` in the body of a
 * heredoc, or `comment` in a comment. Any other expression is rejected, with advice on what to write instead.
 */
export type Quoting = "bare" | "quoted" | "heredoc" | "comment" | { refused: string };

const BY_ENV = "set a variable under `env:` and write";

export const REFUSED = {
  single: `Inside single quotes the value would not be expanded: use double quotes, or ${BY_ENV} "$NAME"`,
  heredoc:
    "In a heredoc with a quoted end word the value would not be expanded: remove the quotes from the word, or pass the value to the program in a variable set under `env:`",
  word: "The end word of a heredoc is taken as written: write it without an expression",
  escaped: "The backslash would change the value: remove it",
  backtick: "Inside backticks quoting is unreliable: use $( )",
  arithmetic:
    "The shell would run code in a value that it evaluates as a number or an index: test the value as text first, or compute in another program",
  code: `The value would become program code: ${BY_ENV} "$NAME" in single quotes, or pass it as an argument`,
  deep: "This is nested too deeply in the script to tell how it is quoted",
  name: "The shell would run code in the name of a variable: write the name in the script itself",
} as const;

/** Scans a script and finds how each of its expressions is quoted. */
export abstract class QuotingScanner {
  readonly text: string;
  readonly #spans: Span[];
  readonly found: Quoting[] = [];
  at = 0;

  constructor(text: string, spans: Span[]) {
    this.text = text;
    this.#spans = spans;
  }

  /** Whether an expression begins here. */
  get isAtSpan(): boolean {
    return this.#spans[this.found.length]?.start === this.at;
  }

  /** Records the quoting of the expression that begins here and skips it. Returns false if none begins. */
  span(quoting: Quoting): boolean {
    if (!this.isAtSpan) return false;
    this.at = this.#spans[this.found.length]!.end;
    this.found.push(quoting);
    return true;
  }

  /** Rejects all expressions from here on. */
  giveUp(refused: string): void {
    while (this.found.length < this.#spans.length) this.found.push({ refused });
    this.at = this.text.length;
  }

  sees(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  /** Skips to the end of the line, before the line break. */
  comment(): void {
    while (this.at < this.text.length && !this.sees("\n")) if (!this.span("comment")) this.at++;
  }
}
