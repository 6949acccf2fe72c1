import { type Document, isMap, isSeq, type LineCounter, type Node, visit } from "yaml";
import { Comment } from "./out.ts";

/*
 * The comments of a workflow. Each belongs to one printed item: a key at the top, a job, a key of a job, a step, or a
 * variable. An item owns the comments above it, and those in its own lines that have no closer item.
 */

interface Written {
  line: number;
  text: string;
  /** Whether the line has nothing else. */
  isAlone: boolean;
}

type Node_ = Node | null | undefined;

const valueAt = (node: Node_, key: string): Node_ =>
  isMap(node) ? (node.items.find((pair) => String(pair.key) === key)?.value as Node_) : undefined;

/** Returns the nodes at which these items begin. */
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

/** Reports whether a line names an action. Its comment is a commit's version, useless without the action. */
const isOfAction = (line: string): boolean => /^\s*(?:-\s+)?uses:/.test(line);

/** Finds each `#` comment outside of scalars. */
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

/** Maps each line, from 1, to the next line below that has more than a comment. */
const linesBelow = (lines: string[]): number[] => {
  const below: number[] = [];
  let next = lines.length + 1;
  for (let line = lines.length; line >= 0; line--) {
    below[line] = next;
    if (line > 0 && !/^\s*(?:#|$)/.test(lines[line - 1]!)) next = line;
  }
  return below;
};

/** The owner's line for comments below everything else. */
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

  /** Returns the line of the first comment above the item that begins in this line, or the line itself. */
  firstLineOf(line: number): number {
    return this.#firstLines.get(line) ?? line;
  }

  /** Returns and removes the comment of the item that begins in this line. */
  take(line: number): Comment | undefined {
    const texts = this.#texts.get(line);
    this.#texts.delete(line);
    return texts && new Comment(texts);
  }

  /** Returns and removes the comment below everything else. */
  takeLast(): Comment | undefined {
    return this.take(END);
  }
}
