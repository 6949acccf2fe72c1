/** A position in the pipeline file. Line and column count from 1, and columns in UTF-16 units. */
export interface Position {
  line: number;
  column: number;
  /** The path of an included file, if that file contains the position. */
  file?: string;
}

/** Orders positions. Positions in the pipeline file itself come first. */
export const byPlace = (a: Position, b: Position): number => {
  const [left, right] = [a.file ?? "", b.file ?? ""];
  if (left !== right) return left < right ? -1 : 1;
  return a.line - b.line || a.column - b.column;
};

/** Returns a key for the place. Equal places have the same key. */
export const placeKey = ({ file, line, column }: Position): string => `${line}:${column}:${file ?? ""}`;

/**
 * A mistake or a hint in a pipeline file. The message may quote keys of the file, and names that should be keys. It
 * never quotes other values, because they could be secrets.
 */
export interface Mistake extends Position {
  message: string;
  suggestion?: string;
}

/** Returns the message with its suggestion. */
export const mistakeSentence = ({ message, suggestion }: Mistake): string =>
  `${message}${suggestion === undefined ? "" : `. Did you mean \`${suggestion}\`?`}`;

/** Formats a mistake for editors: `file:line:column: message`. `file` is the pipeline file. */
export const formatMistake = (file: string, mistake: Mistake): string =>
  `${mistake.file ?? file}:${mistake.line}:${mistake.column}: ${mistakeSentence(mistake)}`;

/** Quotes a text that looks like a key; null for any other text, which a message must not reveal. */
export const quotedKey = (key: string): string | null => (/^[\w.$-]{1,40}$/.test(key) ? `\`${key}\`` : null);

/** The message for a job name that the file does not have. */
export const noJobNamed = (name: string): string => `There is no job ${quotedKey(name) ?? "with this name"}`;

/** A mistake found while a step is prepared, with its position in the file. */
export class LocatedMistake extends Error {
  readonly mistake: Mistake;
  constructor(mistake: Mistake) {
    super(mistake.message);
    this.mistake = mistake;
  }
}

/**
 * A mistake in an expression, with its offset in UTF-16 units. The message never quotes the text or a value, because
 * these could contain a secret.
 */
export class ExpressionMistake extends Error {
  readonly offset: number;
  readonly suggestion: string | undefined;
  constructor(message: string, offset = 0, suggestion?: string) {
    super(message);
    this.offset = offset;
    this.suggestion = suggestion;
  }
}
