/** A place in the pipeline file; both count from 1, columns in UTF-16 units. */
export interface Place {
  line: number;
  column: number;
}

/** Something wrong in a pipeline file, and what to write instead where that is known. It quotes nothing of the file. */
export interface Mistake extends Place {
  message: string;
  suggestion?: string;
}

/** One mistake as a line for people and editors: `file:line:column: message`. */
export const describeMistake = (file: string, { line, column, message, suggestion }: Mistake): string =>
  `${file}:${line}:${column}: ${message}${suggestion === undefined ? "" : `. Did you mean \`${suggestion}\`?`}`;
