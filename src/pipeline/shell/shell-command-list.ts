/** Most characters kept of a word, and most words kept of a command. */
const LONGEST_WORD = 256;
const MOST_WORDS = 32;

/** A heredoc whose body follows; `isProgram` when the command that reads it runs it as code. */
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
  /** Expressions found before an open `[[`; null outside of one. */
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
