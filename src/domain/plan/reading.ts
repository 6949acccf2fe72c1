import { type Document, isAlias, type LineCounter, type Node, visit } from "yaml";
import type { Mistake, Place } from "./mistake.ts";

/** Nodes that may be read in one file, what aliases stand for counted each time. */
const VISIT_LIMIT = 50_000;

/** Mistakes that are told of one file. */
const MISTAKE_LIMIT = 200;

/** Aliases, or sheer size, make the file more than will be read. */
export class TooMuch extends Error {}

/** What each alias stands for: the last node before it with that anchor, or nothing. */
const aliasesOf = (document: Document.Parsed): Map<Node, Node | undefined> => {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node | undefined>();
  visit(document, {
    Node(_, node) {
      if (!isAlias(node)) {
        if (node.anchor) anchors.set(node.anchor, node);
        return;
      }
      targets.set(node, anchors.get(node.source));
    },
  });
  return targets;
};

/** A document that is being read: where its nodes stand, and what was found wrong. */
export class Reading {
  readonly source: string;
  readonly mistakes: Mistake[] = [];
  readonly #aliases: Map<Node, Node | undefined>;
  readonly #lines: LineCounter;
  #visits = 0;

  constructor(source: string, document: Document.Parsed, lines: LineCounter) {
    this.source = source;
    this.#aliases = aliasesOf(document);
    this.#lines = lines;
    for (const [alias, target] of this.#aliases) if (!target) this.mistake(alias, "This alias has no anchor before it");
  }

  place(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }

  /** Whether enough is wrong already: to find the place of each more would take long. */
  get isFull(): boolean {
    return this.mistakes.length >= MISTAKE_LIMIT;
  }

  mistake(where: Node | number, message: string, suggestion?: string): void {
    if (this.isFull) return;
    const offset = typeof where === "number" ? where : (where.range?.[0] ?? 0);
    this.mistakes.push({ ...this.place(offset), message, ...(suggestion === undefined ? {} : { suggestion }) });
  }

  /** The node itself, or what an alias stands for. */
  resolve(node: Node): Node | undefined {
    this.#visits++;
    if (this.#visits > VISIT_LIMIT) throw new TooMuch();
    return isAlias(node) ? this.#aliases.get(node) : node;
  }
}
