import { findSpans, type Span } from "../expression/interpolation.ts";
import type { Shell } from "../parse/plan.ts";
import { pwshQuoting } from "./pwsh-quoting.ts";
import type { Quoting } from "./quoting.ts";
import { shellQuoting } from "./shell-quoting.ts";

/**
 * A script in which variables have replaced its expressions. Offsets count from the beginning of `run`. `isWord` means
 * that the expression begins a word, without quotes.
 */
interface References {
  script: string;
  expressions: { name: string; expression: string; offset: number; isWord: boolean }[];
  problems: { offset: number; message: string }[];
}

const NO_REFERENCE = {
  python: 'Python would read this as code: set a variable under `env:` and read os.environ["NAME"]',
  node: "Node would read this as code: set a variable under `env:` and read it from the environment of the process",
} as const;

const findQuoting = (run: string, spans: Span[], shell: Shell): Quoting[] => {
  if (spans.length === 0) return [];
  if (shell === "pwsh") return pwshQuoting(run, spans);
  if (shell === "bash" || shell === "sh") return shellQuoting(run, spans);
  return spans.map(() => ({ refused: NO_REFERENCE[shell] }));
};

const reference = (name: string, quoting: Quoting, shell: Shell): string => {
  if (shell === "pwsh") return `\${env:${name}}`;
  return quoting === "bare" ? `"\${${name}}"` : `\${${name}}`;
};

/**
 * Replaces each expression of a script with a reference to a variable, so that its value can never become code. Outside
 * quotes, the reference gets double quotes and stays one word. Expressions in comments stay, and nothing evaluates
 * them.
 */
export const replaceExpressions = (run: string, shell: Shell, { spans, open } = findSpans(run)): References => {
  const quoting = findQuoting(run, spans, shell);
  const result: References = { script: "", expressions: [], problems: [] };
  let end = 0;
  for (const [index, span] of spans.entries()) {
    const how = quoting[index] ?? "comment";
    result.script += run.slice(end, span.start);
    end = span.end;
    if (how === "comment") result.script += run.slice(span.start, span.end);
    else if (typeof how === "object") result.problems.push({ offset: span.start, message: how.refused });
    else {
      const name = `MILLRACE_EXPR_${result.expressions.length + 1}`;
      const isWord = how === "bare" && /^\s?$/.test(run.slice(Math.max(0, span.start - 1), span.start));
      result.expressions.push({ name, expression: span.inner, offset: span.innerStart, isWord });
      result.script += reference(name, how, shell);
    }
  }
  result.script += run.slice(end);
  if (open !== undefined) result.problems.push({ offset: open, message: "This ${{ is never closed by }}" });
  return result;
};
