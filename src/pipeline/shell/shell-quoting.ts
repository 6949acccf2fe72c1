import type { Span } from "../expression/interpolation.ts";
import { FILE_LIMITS } from "../fields/limits.ts";
import { type Quoting, REFUSED } from "./quoting.ts";
import { CommandList, type Heredoc, ShellExpansionScanner } from "./shell-expansion-scanner.ts";
import { isArithmeticTest, readsProgram } from "./shell-injection.ts";

const KEYWORDS = new Set(["if", "then", "elif", "else", "while", "until", "do", "!", "{", "time", "coproc"]);
const CLOSERS = new Set(["}", "done", "fi", "esac"]);
const BLANK = /[ \t]/;
const ENDS_WORD = /[ \t\n;&|<>()]/;

/*
 * Reads the quoting of bash and sh scripts, not their whole grammar. After a misjudgment, the script may split a value
 * into words or not expand it. The value stays the value of a variable and never becomes part of the script.
 */
class ShellScanner extends ShellExpansionScanner {
  #heredocs: Heredoc[] = [];
  #depth = 0;

  run(): Quoting[] {
    while (this.hasMore()) this.commands(null);
    return this.found;
  }

  /** Reads commands up to and including `closer`. */
  protected override commands(closer: ")" | null): void {
    const list = new CommandList(this.found.length);
    if (closer) this.#depth++;
    if (this.#depth > FILE_LIMITS.scriptDepth) this.giveUp(REFUSED.deep);
    while (this.hasMore()) {
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
      if (isArithmeticTest(list.words)) this.refuseBetween(list.testFrom, this.found.length, REFUSED.arithmetic);
      list.testFrom = null;
    }
  }

  /**
   * Ends a command. An interpreter runs its input as code: heredocs, here-strings and earlier commands in the pipeline.
   */
  #endOfCommand(list: CommandList, operator: string): void {
    if (list.testFrom !== null && operator !== "") return;
    if (list.words.length === 0 && operator === "\n") return;
    if (readsProgram(list.words)) {
      for (const [from, to] of list.inputs) this.refuseBetween(from, to, REFUSED.code);
      for (const heredoc of list.heredocs) heredoc.isProgram = true;
      if (list.isPiped) {
        this.refuseBetween(list.pipelineFrom, this.found.length, REFUSED.code);
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
      this.arithmetic("))");
      return;
    }
    this.at++;
    if (list.testFrom !== null) return;
    this.commands(")");
    list.words = [];
  }

  #redirection(list: CommandList): void {
    const operator = /^(?:<<<|<<-|<<|[<>]\(|[<>]+[&|]?)/.exec(this.text.slice(this.at, this.at + 3))![0];
    const from = this.found.length;
    this.at += operator.length;
    if (operator === "<(" || operator === ">(") {
      this.commands(")");
      list.inputs.push([from, this.found.length]);
    } else if (operator === "<<" || operator === "<<-") this.#heredocWord(list, operator === "<<-");
    else {
      this.#operand(list);
      if (operator === "<<<") list.inputs.push([from, this.found.length]);
    }
  }

  /** Reads the word after a redirection, which is not an argument of the command. */
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
    for (let quote = ""; this.hasMore(); ) {
      const c = this.text[this.at]!;
      if (this.span({ refused: REFUSED.word })) continue;
      if (quote === "" && ENDS_WORD.test(c)) break;
      if (c === quote) quote = "";
      else if (quote === "" && (c === "'" || c === '"')) quote = c;
      this.at += c === "\\" ? 2 : 1;
    }
    const endWord = this.text.slice(start, this.at);
    const isQuoted = /[\\'"]/.test(endWord);
    const heredoc = { word: endWord.replaceAll(/[\\'"]/g, ""), isQuoted, stripsTabs, isProgram: false };
    this.#heredocs.push(heredoc);
    list.heredocs.push(heredoc);
  }

  #heredocBodies(): void {
    for (const heredoc of this.#heredocs.splice(0)) {
      const outer = this.end;
      const body = this.#bodyEnd(heredoc);
      this.end = body.end;
      while (this.hasMore()) {
        if (!heredoc.isQuoted) this.expansion(heredoc.isProgram ? { refused: REFUSED.code } : "heredoc");
        else if (!this.span({ refused: REFUSED.heredoc })) this.at++;
      }
      this.end = outer;
      this.at = Math.max(this.at, body.after);
    }
  }

  #bodyEnd({ word, stripsTabs }: Heredoc): { end: number; after: number } {
    for (let start = this.at; start < this.end; ) {
      const lineBreak = this.text.indexOf("\n", start);
      const end = lineBreak < 0 || lineBreak > this.end ? this.end : lineBreak;
      const line = this.text.slice(start, end).replace(/\r$/, "");
      const read = stripsTabs ? line.replace(/^\t+/, "") : line;
      if (read === word) return { end: start, after: end };
      // In a substitution, bash also accepts the end word directly before the closing parenthesis.
      if (this.#depth > 0 && read.startsWith(`${word})`))
        return { end: start, after: start + line.indexOf(")", word.length) };
      start = end + 1;
    }
    return { end: this.end, after: this.end };
  }

  #word(list: CommandList): void {
    while (this.hasMore()) {
      const c = this.text[this.at]!;
      if (this.isAtSpan) {
        this.span(this.quotingIn(list, "bare"));
        list.append("\0");
      } else if (c === "'") this.singleQuotes("'");
      else if (c === '"') this.doubleQuotes(list);
      else if (this.sees("$'")) {
        this.at++;
        this.singleQuotes("\\");
      } else if (c === "\\" || c === "$" || c === "`") {
        const start = this.at;
        this.expansion(this.quotingIn(list, "bare"));
        list.append(this.text.slice(start, Math.min(this.at, start + 2)).replace(/^\\/, ""));
      } else if (this.sees("<(") || this.sees(">(")) {
        this.at += 2;
        this.commands(")");
      } else if (c === "(" && /[=@?*+!]$/.test(list.current)) {
        this.at++;
        this.commands(")");
      } else if (c === "[" && list.words.length === 0 && /^[A-Za-z_]\w*$/.test(list.current)) {
        this.at++;
        this.arithmetic("]");
      } else if (ENDS_WORD.test(c)) return;
      else {
        list.append(c);
        this.at++;
      }
    }
  }
}

/** How a bash or sh script quotes each expression. */
export const shellQuoting = (text: string, spans: Span[]): Quoting[] => new ShellScanner(text, spans).run();
