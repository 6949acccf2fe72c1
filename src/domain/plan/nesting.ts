import { CST, Lexer } from "yaml";

/** Levels that a pipeline file can have use for, with room. */
const DEEPEST = 32;

/** Anchors, aliases and tags one file may have. */
const MOST_MARKS = 2000;

/**
 * Where a file gets nested or marked beyond what any pipeline needs, or null. Building a tree of it would take seconds
 * or exhaust the stack, reading its tokens does not. What is nested by indentation alone cannot get that deep.
 */
export const tooDeepAt = (text: string): number | null => {
  let offset = 0;
  let flow = 0;
  let onLine = 0;
  let marks = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === CST.DOCUMENT || token === CST.FLOW_END || token === CST.SCALAR) continue;
    if (token === "[" || token === "{") flow++;
    else if (token === "]" || token === "}") flow--;
    else if (flow === 0 && (token === "-" || token === "?" || token === ":")) onLine++;
    else if (token.includes("\n")) onLine = 0;
    else if (/^[&*!]/.test(token)) marks++;
    if (flow > DEEPEST || onLine > DEEPEST || marks > MOST_MARKS) return offset;
    offset += token.length;
  }
  return null;
};
