import type { Span } from "../expression/interpolation.ts";
import { FILE_LIMITS } from "./limits.ts";
import { type Quoting, QuotingScanner, REFUSED } from "./quoting.ts";
import { CommandList, type Heredoc } from "./shell-command-list.ts";
import { injectionRisk, isArithmeticTest, readsProgram } from "./shell-injection.ts";

const KEYWORDS = new Set(["if", "then", "elif", "else", "while", "until", "do", "!", "{", "time", "coproc"]);
const CLOSERS = new Set(["}", "done", "fi", "esac"]);
const BLANK = /[ \t]/;
const ENDS_WORD = /[ \t\n;&|<>()]/;
const PARAMETER_NAME = /[!#]?(?:\w+|[#?@*$!-])?/y;

/*
 * Reads bash and sh as far as quoting goes. Should it misjudge a strange script, a value could be split into words or
 * not be filled in, but it is a variable's value in any case and never a part of the script.
 */
class ShellScanner extends QuotingScanner {
  #heredocs: Heredoc[] = [];
  #depth = 0;
  #end = this.text.length;

  run(): Quoting[] {
    while (this.#more()) this.#commands(null);
    return this.found;
  }

  #more(): boolean {
    return this.at < this.#end;
  }

  #refuse(from: number, to: number, refused: string): void {
    const how = { refused };
    for (let index = from; index < to; index++) if (this.found[index] !== "comment") this.found[index] = how;
  }

  /** Commands up to `closer`, which belongs to them. */
  #commands(closer: ")" | null): void {
    const list = new CommandList(this.found.length);
    if (closer) this.#depth++;
    if (this.#depth > FILE_LIMITS.scriptDepth) this.giveUp(REFUSED.deep);
    while (this.#more()) {
      const c = this.text[this.at]!;
      if (c === ")" && closer && list.cases === 0) break;
      if (c === "\n") {
        this.at++;
        this.#endOfCommand(list, "\n");
        this.#heredocBodies();
      } else if (BLANK.test(c)) this.at++;
      else if (c === "#") this.comment();
      else if (c === "<" || c === ">") this.#redirection(list);
      else if (c === "(") this.#parenthesis(list);
      else if (ENDS_WORD.test(c)) {
        const operator = /^(?:\|\||&&|\|&|;;&?|;&|.)/.exec(this.text.slice(this.at, this.at + 3))![0];
        this.at += operator.length;
        this.#endOfCommand(list, operator);
      } else {
        this.#word(list);
        this.#endOfWord(list);
      }
    }
    this.#endOfCommand(list, "");
    if (!closer) return;
    this.#depth--;
    this.at++;
  }

  #endOfWord(list: CommandList): void {
    const isFirst = list.words.length === 0;
    const word = list.push();
    if (isFirst && word === "case") list.cases++;
    if (isFirst && word === "esac") list.cases = Math.max(0, list.cases - 1);
    if (isFirst && word === "[[") list.testFrom = this.found.length;
    else if (isFirst && KEYWORDS.has(word)) list.words = [];
    if (word === "]]" && list.testFrom !== null) {
      if (isArithmeticTest(list.words)) this.#refuse(list.testFrom, this.found.length, REFUSED.arithmetic);
      list.testFrom = null;
    }
  }

  /** What feeds an interpreter is a program: its heredocs and here-strings, and the pipeline before it. */
  #endOfCommand(list: CommandList, operator: string): void {
    if (list.testFrom !== null && operator !== "") return;
    if (list.words.length === 0 && operator === "\n") return;
    if (readsProgram(list.words)) {
      for (const [from, to] of list.inputs) this.#refuse(from, to, REFUSED.code);
      for (const heredoc of list.heredocs) heredoc.isProgram = true;
      if (list.isPiped) {
        this.#refuse(list.pipelineFrom, this.found.length, REFUSED.code);
        for (const heredoc of list.pipelineHeredocs.splice(0)) heredoc.isProgram = true;
        list.pipelineFrom = this.found.length;
      }
    }
    list.isPiped = operator === "|" || operator === "|&";
    if (list.isPiped) list.pipelineHeredocs.push(...list.heredocs);
    else list.pipelineHeredocs = [];
    if (!list.isPiped) list.pipelineFrom = this.found.length;
    else if (CLOSERS.has(list.words[0] ?? "")) list.pipelineFrom = list.from;
    list.words = [];
    list.inputs = [];
    list.heredocs = [];
  }

  #parenthesis(list: CommandList): void {
    if (this.sees("((") && list.words.length === 0) {
      this.at += 2;
      this.#arithmetic("))");
      return;
    }
    this.at++;
    if (list.testFrom !== null) return;
    this.#commands(")");
    list.words = [];
  }

  #redirection(list: CommandList): void {
    const operator = /^(?:<<<|<<-|<<|[<>]\(|[<>]+[&|]?)/.exec(this.text.slice(this.at, this.at + 3))![0];
    const from = this.found.length;
    this.at += operator.length;
    if (operator === "<(" || operator === ">(") {
      this.#commands(")");
      list.inputs.push([from, this.found.length]);
    } else if (operator === "<<" || operator === "<<-") this.#heredocWord(list, operator === "<<-");
    else {
      this.#operand(list);
      if (operator === "<<<") list.inputs.push([from, this.found.length]);
    }
  }

  /** The word after a redirection, which is none of the command's own. */
  #operand(list: CommandList): void {
    while (BLANK.test(this.text[this.at] ?? "")) this.at++;
    const { words, current } = list;
    list.words = ["<"];
    list.current = "";
    this.#word(list);
    list.words = words;
    list.current = current;
  }

  #heredocWord(list: CommandList, stripsTabs: boolean): void {
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
    const isQuoted = /[\\'"]/.test(written);
    const heredoc = { word: written.replaceAll(/[\\'"]/g, ""), isQuoted, stripsTabs, isProgram: false };
    this.#heredocs.push(heredoc);
    list.heredocs.push(heredoc);
  }

  #heredocBodies(): void {
    for (const heredoc of this.#heredocs.splice(0)) {
      const outer = this.#end;
      const body = this.#bodyEnd(heredoc);
      this.#end = body.end;
      while (this.#more()) {
        if (!heredoc.isQuoted) this.#expanding(heredoc.isProgram ? { refused: REFUSED.code } : "heredoc");
        else if (!this.span({ refused: REFUSED.heredoc })) this.at++;
      }
      this.#end = outer;
      this.at = Math.max(this.at, body.after);
    }
  }

  #bodyEnd({ word, stripsTabs }: Heredoc): { end: number; after: number } {
    for (let start = this.at; start < this.#end; ) {
      const found = this.text.indexOf("\n", start);
      const end = found < 0 || found > this.#end ? this.#end : found;
      const line = this.text.slice(start, end).replace(/\r$/, "");
      const read = stripsTabs ? line.replace(/^\t+/, "") : line;
      if (read === word) return { end: start, after: end };
      // In a substitution bash takes the word with the closing parenthesis right after it, too.
      if (this.#depth > 0 && read.startsWith(`${word})`))
        return { end: start, after: start + line.indexOf(")", word.length) };
      start = end + 1;
    }
    return { end: this.#end, after: this.#end };
  }

  #word(list: CommandList): void {
    while (this.#more()) {
      const c = this.text[this.at]!;
      if (this.isAtSpan) {
        this.span(this.#inCommand(list, "bare"));
        list.append("\0");
      } else if (c === "'") this.#single("'");
      else if (c === '"') this.#double(list);
      else if (this.sees("$'")) {
        this.at++;
        this.#single("\\");
      } else if (c === "\\" || c === "$" || c === "`") {
        const start = this.at;
        this.#expanding(this.#inCommand(list, "bare"));
        list.append(this.text.slice(start, Math.min(this.at, start + 2)).replace(/^\\/, ""));
      } else if (this.sees("<(") || this.sees(">(")) {
        this.at += 2;
        this.#commands(")");
      } else if (c === "(" && /[=@?*+!]$/.test(list.current)) {
        this.at++;
        this.#commands(")");
      } else if (c === "[" && list.words.length === 0 && /^[A-Za-z_]\w*$/.test(list.current)) {
        this.at++;
        this.#arithmetic("]");
      } else if (ENDS_WORD.test(c)) return;
      else {
        list.append(c);
        this.at++;
      }
    }
  }

  #inCommand({ words, current }: CommandList, quoting: "bare" | "quoted"): Quoting {
    const refused = injectionRisk(words, current);
    return refused === null ? quoting : { refused };
  }

  /** At the opening of a single quote; with `\` as escape it is that of `$'...'`. */
  #single(kind: "'" | "\\"): void {
    this.at++;
    while (this.#more() && !this.sees("'")) {
      if (this.span({ refused: REFUSED.single })) continue;
      this.at += kind === "\\" && this.sees("\\") ? 2 : 1;
    }
    this.at++;
  }

  #double(list: CommandList | null, inside: Quoting = "quoted"): void {
    this.at++;
    while (this.#more() && !this.sees('"')) {
      const c = this.text[this.at]!;
      this.#expanding(list && /[$`]/.test(c) ? this.#inCommand(list, "quoted") : inside);
      list?.append(c);
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
      const from = this.found.length;
      this.at += 2;
      this.#commands(")");
      if (typeof quoting === "object") this.#refuse(from, this.found.length, quoting.refused);
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
    while (this.#more() && !this.sees("}")) {
      if (quoting === "bare" && this.sees("'")) this.#single("'");
      else if (this.sees('"') && quoting !== "heredoc")
        this.#double(null, typeof inside === "object" ? inside : "quoted");
      else this.#expanding(inside);
    }
    this.at++;
  }
}

/** How a script for bash or sh quotes each of its expressions. */
export const shellQuoting = (text: string, spans: Span[]): Quoting[] => new ShellScanner(text, spans).run();
