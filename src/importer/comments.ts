import { type Document, isMap, isSeq, type LineCounter, type Node, visit } from "yaml";
import { Comment } from "./out.ts";

/*
 * The comments of a workflow. Each belongs to one thing that is printed: a key at the top, a job, a key of a job, a step,
 * or a variable. Those above it do, and those in its own lines, where no other such thing is nearer.
 */

interface Written {
  line: number;
  text: string;
  /** Whether nothing else stands in the line. */
  isAlone: boolean;
}

type Node_ = Node | null | undefined;

const valueAt = (node: Node_, key: string): Node_ =>
  isMap(node) ? (node.items.find((pair) => String(pair.key) === key)?.value as Node_) : undefined;

/** The nodes at which these things begin. */
const beginnings = (root: Node_): Node[] => {
  const keys = (node: Node_): Node[] => (isMap(node) ? node.items.map(({ key }) => key as Node) : []);
  const values = (node: Node_): Node_[] => (isMap(node) ? node.items.map(({ value }) => value as Node_) : []);
  const jobs = valueAt(root, "jobs");
  return [
    ...keys(root),
    ...keys(valueAt(root, "env")),
    ...keys(jobs),
    ...values(jobs).flatMap((job) => {
      const steps = valueAt(job, "steps");
      const stepNodes = isSeq(steps) ? (steps.items as Node[]) : [];
      return [
        ...keys(job),
        ...keys(valueAt(job, "env")),
        ...stepNodes,
        ...stepNodes.flatMap((one) => keys(valueAt(one, "env"))),
      ];
    }),
  ];
};

/** Behind an action stands the version of its commit, which says nothing where the action is gone. */
const isOfAction = (line: string): boolean => /^\s*(?:-\s+)?uses:/.test(line);

/** What begins with `#` outside of all scalars. */
const commentsIn = (text: string, scalars: [from: number, to: number][], counter: LineCounter): Written[] => {
  let next = 0;
  return [...text.matchAll(/(?<=^|[ \t])#.*$/gm)].flatMap(({ index, 0: comment }) => {
    while (next < scalars.length && scalars[next]![1] <= index) next++;
    const scalar = scalars[next];
    if (scalar && scalar[0] <= index) return [];
    const { line, col } = counter.linePos(index);
    const before = text.slice(index - col + 1, index);
    if (isOfAction(before)) return [];
    const isAlone = before.trim() === "";
    return { line, text: comment.replace(/^# ?/, "").trimEnd(), isAlone };
  });
};

/** By line, from 1: the next one below it that has something else than a comment in it. */
const linesBelow = (lines: string[]): number[] => {
  const below: number[] = [];
  let next = lines.length + 1;
  for (let line = lines.length; line >= 0; line--) {
    below[line] = next;
    if (line > 0 && !/^\s*(?:#|$)/.test(lines[line - 1]!)) next = line;
  }
  return below;
};

/** The line of what stands below everything. */
const END = Number.POSITIVE_INFINITY;

export class CommentsByLine {
  readonly #texts = new Map<number, string[]>();
  readonly #firstLines = new Map<number, number>();

  constructor(text: string, document: Document.Parsed, counter: LineCounter) {
    const scalars: [number, number][] = [];
    visit(document, { Scalar: (_, { range }) => void scalars.push([range?.[0] ?? 0, range?.[1] ?? 0]) });
    scalars.sort(([a], [b]) => a - b);
    const lines = text.split(/\r\n|\n/);
    const below = linesBelow(lines);
    const starts = new Set(beginnings(document.contents).map((node) => counter.linePos(node.range?.[0] ?? 0).line));
    const sorted = [...starts].sort((a, b) => a - b);
    let at = 0;
    for (const { line, text: words, isAlone } of commentsIn(text, scalars, counter)) {
      while (at < sorted.length && sorted[at]! <= line) at++;
      const next = isAlone ? below[line]! : line;
      const owner = next > lines.length ? END : starts.has(next) ? next : (sorted[at - 1] ?? sorted[at] ?? END);
      if (line < owner && !this.#firstLines.has(owner)) this.#firstLines.set(owner, line);
      const texts = this.#texts.get(owner) ?? [];
      if (texts.length > 0 && isAlone && lines[line - 2]?.trim() === "") texts.push("");
      texts.push(words);
      this.#texts.set(owner, texts);
    }
  }

  /** The line of the first comment above what begins in this line; the line itself where there is none. */
  firstLineOf(line: number): number {
    return this.#firstLines.get(line) ?? line;
  }

  /** The comment of what begins in this line, once. */
  take(line: number): Comment | undefined {
    const texts = this.#texts.get(line);
    this.#texts.delete(line);
    return texts && new Comment(texts);
  }

  /** The comment below everything, once. */
  takeLast(): Comment | undefined {
    return this.take(END);
  }
}
