/** Characters of a word, and words of a command, that are kept. */
const LONGEST_WORD = 256;
const MOST_WORDS = 32;

/** A body that is still to come; `isProgram` when what reads it runs it. */
export interface Heredoc {
  word: string;
  isQuoted: boolean;
  stripsTabs: boolean;
  isProgram: boolean;
}

/** A list of commands, and the one that is being read. Indices count expressions found. */
export class CommandList {
  words: string[] = [];
  current = "";
  /** Where `[[` was opened, while it is open. */
  testFrom: number | null = null;
  /** What the command's input comes from: here-strings, and bodies still to be read. */
  inputs: [from: number, to: number][] = [];
  heredocs: Heredoc[] = [];
  /** The pipeline so far. */
  readonly from: number;
  pipelineFrom: number;
  pipelineHeredocs: Heredoc[] = [];
  isPiped = false;
  cases = 0;

  constructor(from: number) {
    this.from = from;
    this.pipelineFrom = from;
  }

  /** Adds to the word that is being read; of a long one the beginning will do. */
  append(text: string): void {
    if (this.current.length < LONGEST_WORD) this.current += text;
  }

  /** Ends the word. Of a long command the first words and the last will do, so that looking at them stays cheap. */
  push(): string {
    const word = this.current;
    this.words.push(word);
    if (this.words.length > MOST_WORDS) this.words.splice(MOST_WORDS / 2, 1);
    this.current = "";
    return word;
  }
}
