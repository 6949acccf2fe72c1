/**
 * A mistake in an expression, with its offset in UTF-16 units. The message never quotes the text or a value, because
 * they could contain a secret.
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
