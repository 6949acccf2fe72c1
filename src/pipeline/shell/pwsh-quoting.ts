import type { Span } from "../expression/interpolation.ts";
import { type Quoting, QuotingScanner, REFUSED } from "./quoting.ts";

/** Commands that run their argument as code. */
const RUNS_TEXT =
  /(?:^|[\s;|&({])(?:iex|invoke-expression|invoke-command|icm|add-type|pwsh|powershell|cmd|bash|sh)\b[^;|\n]*$/i;

/** The number of characters before an expression in which to search for such a command. */
const LOOKBEHIND = 500;

class PwshScanner extends QuotingScanner {
  run(): Quoting[] {
    while (this.at < this.text.length) this.#step();
    return this.found;
  }

  #place(quoting: "bare" | "quoted"): Quoting {
    const before = this.text.slice(Math.max(0, this.at - LOOKBEHIND), this.at);
    return RUNS_TEXT.test(before) ? { refused: REFUSED.code } : quoting;
  }

  /** Reads up to and including `closer`. Only an expandable string expands variables. */
  #until(closer: string, expands: boolean): void {
    while (this.at < this.text.length && !this.sees(closer)) {
      if (this.span(expands ? this.#place("quoted") : { refused: REFUSED.single })) continue;
      if (expands && this.sees("`")) {
        this.at++;
        if (!this.span({ refused: REFUSED.escaped })) this.at++;
      } else if (expands && this.sees("$(")) {
        this.at += 2;
        this.#code(")");
      } else this.at++;
    }
    this.at += closer.length;
  }

  #code(closer: string): void {
    for (let depth = 0; this.at < this.text.length; ) {
      if (depth === 0 && this.sees(closer)) break;
      if (this.sees("(")) depth++;
      if (this.sees(")")) depth--;
      this.#step();
    }
    this.at++;
  }

  #step(): void {
    if (this.span(this.#place("bare"))) return;
    if (this.sees("<#")) {
      while (this.at < this.text.length && !this.sees("#>")) if (!this.span("comment")) this.at++;
      this.at += 2;
    } else if (this.sees("#") && /(?:^|[\s;(){}|])$/.test(this.text.slice(Math.max(0, this.at - 1), this.at)))
      this.comment();
    else if (this.sees("@'")) this.#hereString("\n'@", false);
    else if (this.sees('@"')) this.#hereString('\n"@', true);
    else if (this.sees("'") || this.sees('"')) {
      const quote = this.text[this.at++]!;
      this.#until(quote, quote === '"');
    } else if (this.sees("`")) {
      this.at++;
      if (!this.span({ refused: REFUSED.escaped })) this.at++;
    } else this.at++;
  }

  #hereString(closer: string, expands: boolean): void {
    this.at += 2;
    this.#until(closer, expands);
  }
}

/** Finds how a PowerShell script quotes each expression. */
export const pwshQuoting = (text: string, spans: Span[]): Quoting[] => new PwshScanner(text, spans).run();
