/** A position in the pipeline file. Both count from 1, columns in UTF-16 units. */
export interface Position {
  line: number;
  column: number;
}

/**
 * A mistake or a hint in a pipeline file. The message may quote unknown keys of the file but no values: they could be
 * secrets.
 */
export interface Mistake extends Position {
  message: string;
  suggestion?: string;
}

/** The message with its suggestion. */
export const mistakeSentence = ({ message, suggestion }: Mistake): string =>
  `${message}${suggestion === undefined ? "" : `. Did you mean \`${suggestion}\`?`}`;

/** A mistake in the form that editors parse: `file:line:column: message`. */
export const formatMistake = (file: string, mistake: Mistake): string =>
  `${file}:${mistake.line}:${mistake.column}: ${mistakeSentence(mistake)}`;
