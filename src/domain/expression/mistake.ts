/**
 * Something wrong with an expression: where in its text (UTF-16 units), and what to do. The message never quotes the
 * text or a value, either could hold a secret.
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
