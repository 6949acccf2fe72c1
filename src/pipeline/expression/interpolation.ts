/** An expression in a text. It starts at `${{` and ends after `}}`. `inner` is the trimmed text between them. */
export interface Span {
  start: number;
  end: number;
  inner: string;
  /** Where `inner` begins. */
  innerStart: number;
}

/**
 * Finds the expressions in a text, in order. `open` is the offset of a `${{` that is never closed. A `}}` in quotes is
 * text.
 */
export const findSpans = (text: string): { spans: Span[]; open?: number } => {
  const spans: Span[] = [];
  for (let start = text.indexOf("${{"); start >= 0; ) {
    let end = start + 3;
    for (let quoted = false; quoted || !text.startsWith("}}", end); end++) {
      if (end >= text.length) return { spans, open: start };
      if (text[end] === "'") quoted = !quoted;
    }
    const leading = /^\s*/.exec(text.slice(start + 3, end))![0].length;
    spans.push({ start, end: end + 2, inner: text.slice(start + 3, end).trim(), innerStart: start + 3 + leading });
    start = text.indexOf("${{", end + 2);
  }
  return { spans };
};
