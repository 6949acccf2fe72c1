import { Lexer } from "yaml";
import { FILE_LIMITS } from "../../../src/pipeline/fields/limits.ts";

const STEP = "steps: [{ run: x }]\n";

const tokensOf = (text: string): number => {
  let count = 0;
  for (const _ of new Lexer().lex(text)) count++;
  return count;
};

/** Repeats `unit` as often as a file with `head` and `tail` may have characters. */
export const filled = (head: string, unit: string, tail = ""): string =>
  head + unit.repeat(Math.floor((FILE_LIMITS.characters - head.length - tail.length) / unit.length)) + tail;

/** Repeats it as often as the file may have YAML tokens. */
const upToTokens = (head: string, unit: string, tail = ""): string => {
  const each = (tokensOf(head + unit.repeat(20) + tail) - tokensOf(head + unit.repeat(10) + tail)) / 10;
  const count = Math.floor((FILE_LIMITS.tokens - tokensOf(head + tail) - each) / each);
  return filled(head, unit, tail).length < head.length + count * unit.length + tail.length
    ? filled(head, unit, tail)
    : head + unit.repeat(count) + tail;
};

const script = (lines: string): string => `steps:\n  - run: |\n${lines}\n`;

/** Returns one block of text, and `count` steps that run it by an alias. */
export const aliased = (line: string, lines: number, count: number): string =>
  `name: &r |\n${line.repeat(lines)}steps:\n${"  - { run: *r }\n".repeat(count)}`;

const LINE = `  echo \${{ vars.A }} "\${{ vars.B }}"\n`;

const names = (each: string, perText: number, tokens: number): string => {
  const texts = Math.floor((FILE_LIMITS.expressionTokens - 10) / tokens / perText);
  return `${STEP}env:\n${Array.from({ length: texts }, (_, i) => `  A${i}: "${each.repeat(perText)}"\n`).join("")}`;
};

/** Files with a heavy YAML tree: as large as each limit allows. */
export const LARGE_TREES: Record<string, string> = {
  "a list in brackets": upToTokens(`${STEP}name: [`, "a,", "]"),
  "empty mappings": upToTokens(`${STEP}name: [`, "{},", "]"),
  "empty texts": upToTokens(`${STEP}name: [`, '"",', "]"),
  "pairs in a list": upToTokens(`${STEP}name: [`, "a: b,", "]"),
  "empty items": upToTokens("steps:\n", "-\n"),
  keys: upToTokens(STEP, "a:\n"),
  "empty lines": upToTokens(STEP, "\n"),
  comments: upToTokens(STEP, "#\n"),
  "too many brackets": upToTokens(STEP, "}"),
  "values that cannot begin this way": upToTokens(STEP, "@\n"),
  "invalid escapes": filled(`${STEP}name: "`, "\\q", '"'),
  "items of a matrix": upToTokens(
    "jobs: { a: { steps: [{ run: x }], matrix: { v: [1], exclude: [",
    "{ v: 1 },",
    "] } } }",
  ),
  jobs: upToTokens("jobs:\n", "  j: { needs: [j], steps: [{ run: x }] }\n"),
  "one script": filled("steps:\n  - run: |\n", "      echo $A\n"),
};

/** Files whose weight is in the expressions within a text, which is one scalar to YAML. */
export const LARGE_TEXTS: Record<string, string> = {
  "short expressions": names("${{a}}", 1000, 3),
  "calls with arguments": names("${{format('',a,a)}}", 900, 10),
  "long expressions": names(`\${{ ${"a||".repeat(990)}a }}`, 1, 1983),
  "expressions in scripts": `steps:\n${`  - run: |\n      ${'${{ a }}" $x" '.repeat(1000)}\n`.repeat(16)}`,
  "mistakes far in a text": `${STEP}name: "${"x ".repeat(125_000)}${"${{ a b }}".repeat(400)}"`,
  "scripts by aliases": aliased(LINE, 10, 499),
  "variables by aliases": `env: &e { ${Array.from({ length: 95 }, (_, i) => `A${i}: x`).join(", ")} }\nsteps:\n${"  - { run: a, env: *e }\n".repeat(490)}`,
  "heredocs in substitutions": script(`      \${{ a }}\n${"      $(cat <<A\n".repeat(15_000)}`),
  "heredocs in a pipeline": script(`      \${{ a }} ${"cat <<A|".repeat(30_000)}`),
  "shells in a pipeline": script(`      echo ${"${{ a }} ".repeat(990)}${"|sh".repeat(80_000)}`),
};

/** Files that grow through their aliases and are rejected: about 200 KB, and few. */
export const GROWING: Record<string, string> = {
  "50 aliases": aliased(LINE, 5500, 50),
  "100 aliases": aliased(LINE, 5500, 100),
  "200 aliases": aliased(LINE, 5300, 200),
  "499 aliases": aliased(LINE, 5300, 499),
  "499 aliases of plain text": aliased("  echo a line without any expression\n", 5300, 499),
  "a short file": aliased(LINE, 300, 499),
};
