/** A place in the pipeline file; both count from 1, columns in UTF-16 units. */
export interface Position {
  line: number;
  column: number;
}

/**
 * Something wrong in a pipeline file, or a hint, and what to write instead where that is known. Of the file it quotes
 * keys that it does not know, no values: they could be secrets.
 */
export interface Mistake extends Position {
  message: string;
  suggestion?: string;
}

/** What to tell people of a mistake, and what was meant. */
export const mistakeSentence = ({ message, suggestion }: Mistake): string =>
  `${message}${suggestion === undefined ? "" : `. Did you mean \`${suggestion}\`?`}`;

/** One mistake as a line for people and editors: `file:line:column: message`. */
export const formatMistake = (file: string, mistake: Mistake): string =>
  `${file}:${mistake.line}:${mistake.column}: ${mistakeSentence(mistake)}`;
