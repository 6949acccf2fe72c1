import type { Span } from "../expression/interpolation.ts";
import { type Quoting, QuotingScanner, REFUSED } from "./quoting.ts";
import { dangerIn, isArithmeticTest, readsProgram } from "./shell-danger.ts";

interface Heredoc {
  word: string;
  isQuoted: boolean;
  stripsTabs: boolean;
}

/** A simple command as far as it has been read. */
interface Command {
  words: string[];
  current: string;
  /** Index of the first expression inside `[[`, while one is open. */
  testFrom: number | null;
}

const KEYWORDS = new Set(["if", "then", "elif", "else", "while", "until", "do", "!", "{", "time", "coproc"]);
const BLANK = /[ \t\r]/;
const PARAMETER_NAME = /[!#]?(?:\w+|[#?@*$!-])?/y;
const ENDS_WORD = /[\s;&|<>()]/;

/*
 * Reads bash and sh as far as quoting goes. Should it misjudge a strange script, a value could be split into words or
 * not be filled in, but it is a variable's value in any case and never a part of the script.
 */
class ShellScanner extends QuotingScanner {
  #heredocs: Heredoc[] = [];
  #lineWords: string[] = [];
  #end = this.text.length;

  run(): Quoting[] {
    while (this.at < this.#end) this.#commands(null);
    return this.found;
  }

  #more(): boolean {
    return this.at < this.#end;
  }

  /** Commands up to `closer`, which belongs to them. */
  #commands(closer: ")" | null): void {
    const command: Command = { words: [], current: "", testFrom: null };
    let cases = 0;
    while (this.#more()) {
      const c = this.text[this.at]!;
      if (c === ")" && closer && cases === 0) {
        this.at++;
        return;
      }
      if (c === "\n") {
        this.at++;
        if (command.testFrom === null) command.words = [];
        this.#heredocBodies();
      } else if (BLANK.test(c)) this.at++;
      else if (c === "#") this.comment();
      else if (c === "<" || c === ">") this.#redirection();
      else if (c === "(") this.#parenthesis(command);
      else if (ENDS_WORD.test(c)) {
        this.at++;
        if (command.testFrom === null) command.words = [];
      } else {
        this.#word(command);
        const word = command.current;
        const isFirst = command.words.length === 0;
        if (isFirst && word === "case") cases++;
        if (isFirst && word === "esac") cases = Math.max(0, cases - 1);
        this.#endOfWord(command, isFirst);
      }
    }
  }

  #endOfWord(command: Command, isFirst: boolean): void {
    const word = command.current;
    this.#lineWords.push(word);
    command.words.push(word);
    command.current = "";
    if (isFirst && word === "[[") command.testFrom = this.found.length;
    else if (isFirst && KEYWORDS.has(word)) command.words = [];
    if (word === "]]" && command.testFrom !== null) {
      if (isArithmeticTest(command.words)) this.#refuseFrom(command.testFrom);
      command.testFrom = null;
    }
  }

  #refuseFrom(index: number): void {
    for (let at = index; at < this.found.length; at++) this.found[at] = { refused: REFUSED.arithmetic };
  }

  #parenthesis(command: Command): void {
    if (this.sees("((") && command.words.length === 0) {
      this.at += 2;
      this.#arithmetic("))");
      return;
    }
    this.at++;
    if (command.testFrom !== null) return;
    this.#commands(")");
    command.words = [];
  }

  #redirection(): void {
    const operator = /^(?:<<<|<<-?|[<>]\(|[<>]+[&|]?)/.exec(this.text.slice(this.at, this.at + 3))![0];
    this.at += operator.length;
    if (operator === "<(" || operator === ">(") this.#commands(")");
    else if (operator === "<<" || operator === "<<-") this.#heredocWord(operator === "<<-");
  }

  #heredocWord(stripsTabs: boolean): void {
    while (BLANK.test(this.text[this.at] ?? "")) this.at++;
    const start = this.at;
    for (let quote = ""; this.#more(); ) {
      const c = this.text[this.at]!;
      if (this.span({ refused: REFUSED.word })) continue;
      if (quote === "" && ENDS_WORD.test(c)) break;
      if (c === quote) quote = "";
      else if (quote === "" && (c === "'" || c === '"')) quote = c;
      this.at += c === "\\" ? 2 : 1;
    }
    const written = this.text.slice(start, this.at);
    this.#heredocs.push({ word: written.replaceAll(/[\\'"]/g, ""), isQuoted: /[\\'"]/.test(written), stripsTabs });
  }

  #heredocBodies(): void {
    const isProgram = readsProgram(this.#lineWords);
    this.#lineWords = [];
    for (const heredoc of this.#heredocs.splice(0)) {
      const refused = heredoc.isQuoted ? REFUSED.heredoc : isProgram ? REFUSED.code : null;
      const outer = this.#end;
      const end = this.#bodyEnd(heredoc);
      this.#end = end.body;
      while (this.#more()) {
        if (heredoc.isQuoted) {
          if (!this.span({ refused: REFUSED.heredoc })) this.at++;
        } else this.#expanding(refused ? { refused } : "heredoc");
      }
      this.#end = outer;
      this.at = Math.max(this.at, end.after);
    }
  }

  #bodyEnd({ word, stripsTabs }: Heredoc): { body: number; after: number } {
    for (let start = this.at; start < this.#end; ) {
      const found = this.text.indexOf("\n", start);
      const end = found < 0 || found > this.#end ? this.#end : found;
      const line = this.text.slice(start, end).replace(/\r$/, "");
      if ((stripsTabs ? line.replace(/^\t+/, "") : line) === word) return { body: start, after: end };
      start = end + 1;
    }
    return { body: this.#end, after: this.#end };
  }

  #word(command: Command): void {
    while (this.#more()) {
      const c = this.text[this.at]!;
      if (this.span(this.#inCommand(command, "bare"))) command.current += "\0";
      else if (c === "'") this.#single("'");
      else if (c === '"') this.#double(command);
      else if (this.sees("$'")) {
        this.at++;
        this.#single("\\");
      } else if (c === "\\" || c === "$" || c === "`") {
        const start = this.at;
        this.#expanding(this.#inCommand(command, "bare"));
        command.current += this.text.slice(start, Math.min(this.at, start + 2)).replace(/^\\/, "");
      } else if (c === "(" && /[=@?*+!]$/.test(command.current)) {
        this.at++;
        this.#commands(")");
      } else if (c === "[" && command.words.length === 0 && /^[A-Za-z_]\w*$/.test(command.current)) {
        this.at++;
        this.#arithmetic("]");
      } else if (ENDS_WORD.test(c)) return;
      else {
        command.current += c;
        this.at++;
      }
    }
  }

  #inCommand({ words, current }: Command, quoting: "bare" | "quoted"): Quoting {
    const refused = dangerIn(words, current);
    return refused === null ? quoting : { refused };
  }

  /** After the opening of a single quote; with `\` as escape it is the form `$'...'`. */
  #single(kind: "'" | "\\"): void {
    this.at++;
    while (this.#more() && !this.sees("'")) {
      if (this.span({ refused: REFUSED.single })) continue;
      this.at += kind === "\\" && this.sees("\\") ? 2 : 1;
    }
    this.at++;
  }

  #double(command: Command | null): void {
    this.at++;
    while (this.#more() && !this.sees('"')) {
      const before = this.at;
      this.#expanding(command ? this.#inCommand(command, "quoted") : "quoted");
      if (command) command.current += this.text.slice(before, before + 1);
    }
    this.at++;
  }

  /** One step where `$`, backtick and backslash count and nothing else does; `quoting` is that of the place. */
  #expanding(quoting: Quoting): void {
    if (this.span(quoting)) return;
    if (this.sees("\\")) {
      this.at++;
      if (!this.span({ refused: REFUSED.escaped })) this.at++;
    } else if (this.sees("$((")) {
      this.at += 3;
      this.#arithmetic("))");
    } else if (this.sees("$[")) {
      this.at += 2;
      this.#arithmetic("]");
    } else if (this.sees("$(")) {
      this.at += 2;
      this.#commands(")");
    } else if (this.sees("${")) this.#parameter(quoting);
    else if (this.sees("`")) this.#backticks();
    else this.at++;
  }

  #backticks(): void {
    this.at++;
    while (this.#more() && !this.sees("`")) {
      if (this.span({ refused: REFUSED.backtick })) continue;
      this.at += this.sees("\\") ? 2 : 1;
    }
    this.at++;
  }

  /** Inside `(( ))`, `$(( ))` or an index: the shell evaluates what a variable there holds, so none may come in. */
  #arithmetic(closer: "))" | "]"): void {
    const open = closer === "]" ? "[" : "(";
    for (let depth = 0; this.#more(); ) {
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

  /** `${name op word}`, at its `${`. */
  #parameter(quoting: Quoting): void {
    this.at += 2;
    PARAMETER_NAME.lastIndex = this.at;
    this.at += PARAMETER_NAME.exec(this.text)![0].length;
    if (this.sees("[")) {
      this.at++;
      this.#arithmetic("]");
    }
    const isNumeric = this.sees(":") && !/[-=?+]/.test(this.text[this.at + 1] ?? "");
    const inside: Quoting = isNumeric ? { refused: REFUSED.arithmetic } : quoting;
    const isBare = quoting === "bare";
    while (this.#more() && !this.sees("}")) {
      if (isBare && this.sees("'")) this.#single("'");
      else if (this.sees('"') && quoting !== "heredoc") this.#double(null);
      else this.#expanding(inside);
    }
    this.at++;
  }
}

/** How a script for bash or sh quotes each of its expressions. */
export const shellQuoting = (text: string, spans: Span[]): Quoting[] => new ShellScanner(text, spans).run();
