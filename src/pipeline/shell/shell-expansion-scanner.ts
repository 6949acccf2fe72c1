import { type Quoting, QuotingScanner, REFUSED } from "./quoting.ts";
import { injectionRisk } from "./shell-injection.ts";

/** The most characters kept of a word, and the most words kept of a command. */
const LONGEST_WORD = 256;
const MOST_WORDS = 32;

/** A heredoc whose body follows. `isProgram` means that the command that reads it runs it as code. */
export interface Heredoc {
  word: string;
  isQuoted: boolean;
  stripsTabs: boolean;
  isProgram: boolean;
}

/** A list of commands (bash(1), Lists) and the current one. Indices count the expressions found. */
export class CommandList {
  words: string[] = [];
  current = "";
  /** The number of expressions before an open `[[`; null outside of `[[ ]]`. */
  testFrom: number | null = null;
  /** Expressions in the command's input: here-strings and process substitutions. */
  inputs: [from: number, to: number][] = [];
  heredocs: Heredoc[] = [];
  /** Where the list and its current pipeline begin. */
  readonly from: number;
  pipelineFrom: number;
  pipelineHeredocs: Heredoc[] = [];
  isPiped = false;
  cases = 0;

  constructor(from: number) {
    this.from = from;
    this.pipelineFrom = from;
  }

  /** Appends to the current word, up to its limit. */
  append(text: string): void {
    if (this.current.length < LONGEST_WORD) this.current += text;
  }

  /** Ends the word. Keeps the first and last words of a long command, so that checks stay cheap. */
  push(): string {
    const word = this.current;
    this.words.push(word);
    if (this.words.length > MOST_WORDS) this.words.splice(MOST_WORDS / 2, 1);
    this.current = "";
    return word;
  }
}

const PARAMETER_NAME = /[!#]?(?:\w+|[#?@*$!-])?/y;

/** Reads the quotes and expansions of bash(1). The subclass reads commands, which `$( )` contains. */
export abstract class ShellExpansionScanner extends QuotingScanner {
  /** The end of the text to read. In a heredoc, this is the end of its body. */
  protected end = this.text.length;

  /** Reads commands up to and including `closer`. */
  protected abstract commands(closer: ")" | null): void;

  protected hasMore(): boolean {
    return this.at < this.end;
  }

  protected refuseBetween(from: number, to: number, refused: string): void {
    const how = { refused };
    for (let index = from; index < to; index++) if (this.found[index] !== "comment") this.found[index] = how;
  }

  protected quotingIn({ words, current }: CommandList, quoting: "bare" | "quoted"): Quoting {
    const refused = injectionRisk(words, current);
    return refused === null ? quoting : { refused };
  }

  /** Reads `'...'`, or with the kind `\` its form `$'...'`, from the opening quote on. */
  protected singleQuotes(kind: "'" | "\\"): void {
    this.at++;
    while (this.hasMore() && !this.sees("'")) {
      if (this.span({ refused: REFUSED.single })) continue;
      this.at += kind === "\\" && this.sees("\\") ? 2 : 1;
    }
    this.at++;
  }

  protected doubleQuotes(list: CommandList | null, inside: Quoting = "quoted"): void {
    this.at++;
    while (this.hasMore() && !this.sees('"')) {
      const c = this.text[this.at]!;
      this.expansion(list && /[$`]/.test(c) ? this.quotingIn(list, "quoted") : inside);
      list?.append(c);
    }
    this.at++;
  }

  /** Reads one expansion, escape or other character. Expressions in it get this `quoting`. */
  protected expansion(quoting: Quoting): void {
    if (this.span(quoting)) return;
    if (this.sees("\\")) {
      this.at++;
      if (!this.span({ refused: REFUSED.escaped })) this.at++;
    } else if (this.sees("$((")) {
      this.at += 3;
      this.arithmetic("))");
    } else if (this.sees("$[")) {
      this.at += 2;
      this.arithmetic("]");
    } else if (this.sees("$(")) {
      const from = this.found.length;
      this.at += 2;
      this.commands(")");
      if (typeof quoting === "object") this.refuseBetween(from, this.found.length, quoting.refused);
    } else if (this.sees("${")) this.#parameter(quoting);
    else if (this.sees("`")) this.#backticks();
    else this.at++;
  }

  #backticks(): void {
    this.at++;
    while (this.hasMore() && !this.sees("`")) {
      if (this.span({ refused: REFUSED.backtick })) continue;
      this.at += this.sees("\\") ? 2 : 1;
    }
    this.at++;
  }

  /**
   * Reads `(( ))`, `$(( ))` or an index. The shell evaluates the values of variables there, so expressions are not
   * allowed there.
   */
  protected arithmetic(closer: "))" | "]"): void {
    const open = closer === "]" ? "[" : "(";
    for (let depth = 0; this.hasMore(); ) {
      if (depth === 0 && this.sees(closer)) {
        this.at += closer.length;
        return;
      }
      if (this.span({ refused: REFUSED.arithmetic })) continue;
      const c = this.text[this.at]!;
      if (c === open) depth++;
      if (c === closer[0]) depth = Math.max(0, depth - 1);
      this.at += c === "\\" ? 2 : 1;
    }
  }

  /** Reads `${name op word}`, from its `${` on. */
  #parameter(quoting: Quoting): void {
    this.at += 2;
    PARAMETER_NAME.lastIndex = this.at;
    this.at += PARAMETER_NAME.exec(this.text)![0].length;
    if (this.sees("[")) {
      this.at++;
      this.arithmetic("]");
    }
    const isNumeric = this.sees(":") && !/[-=?+]/.test(this.text[this.at + 1] ?? "");
    const inside: Quoting = isNumeric ? { refused: REFUSED.arithmetic } : quoting;
    while (this.hasMore() && !this.sees("}")) {
      if (quoting === "bare" && this.sees("'")) this.singleQuotes("'");
      else if (this.sees('"') && quoting !== "heredoc")
        this.doubleQuotes(null, typeof inside === "object" ? inside : "quoted");
      else this.expansion(inside);
    }
    this.at++;
  }
}
