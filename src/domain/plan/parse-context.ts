import { type Document, isAlias, isScalar, type LineCounter, type Node, type Scalar, visit } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import { FILE_LIMITS, FileLimitExceeded } from "./limits.ts";
import type { Mistake, Position } from "./mistake.ts";

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
export class ParseContext {
  readonly source: string;
  readonly mistakes: Mistake[] = [];
  /** What is no mistake, and may still not be what was meant. */
  readonly hints: Mistake[] = [];
  readonly #aliases: Map<Node, Node | undefined>;
  readonly #lines: LineCounter;
  readonly #told = new Map([this.mistakes, this.hints].map((list) => [list, new Set<number>()]));
  readonly #once = new Map<Scalar, Map<string, unknown>>();
  #values = 0;
  #characters = 0;
  #expressionTokens = 0;
  /** The alias that was followed last: where a file that grows by aliases has grown too far. */
  #alias: Node | undefined;

  constructor(source: string, document: Document.Parsed, lines: LineCounter) {
    this.source = source;
    this.#aliases = aliasesOf(document);
    this.#lines = lines;
    for (const [alias, target] of this.#aliases) if (!target) this.mistake(alias, "This alias has no anchor before it");
  }

  positionAt(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }

  /** Whether enough is wrong already: to find the place of each more would take long. */
  get isFull(): boolean {
    return this.mistakes.length >= FILE_LIMITS.mistakes;
  }

  mistake(where: Node | number, message: string, suggestion?: string): void {
    this.#tell(this.mistakes, where, { message, ...(suggestion === undefined ? {} : { suggestion }) });
  }

  hint(where: Node | number, message: string): void {
    this.#tell(this.hints, where, { message });
  }

  /** What is said of a place later follows from the first, or comes of another alias. */
  #tell(among: Mistake[], where: Node | number, what: { message: string; suggestion?: string }): void {
    const offset = typeof where === "number" ? where : (where.range?.[0] ?? 0);
    const told = this.#told.get(among);
    if (among.length >= FILE_LIMITS.mistakes || told?.has(offset)) return;
    told?.add(offset);
    among.push({ ...this.positionAt(offset), ...what });
  }

  /** The node itself, or what an alias stands for. @throws TooMuch */
  resolve(node: Node): Node | undefined {
    if (isAlias(node)) this.#alias = node;
    const found = isAlias(node) ? this.#aliases.get(node) : node;
    if (isScalar(found)) this.#characters += found.source?.length ?? 0;
    this.#values++;
    if (this.#values > FILE_LIMITS.values || this.#characters > FILE_LIMITS.read)
      throw new FileLimitExceeded(
        "The aliases up to here make the file larger than will be read",
        (this.#alias ?? node).range?.[0] ?? 0,
      );
    return found;
  }

  /** Counts the words and signs of an expression, with `${{` and `}}`. @throws TooMuch */
  countExpression(tokens: number, at: number): void {
    this.#expressionTokens += tokens;
    if (this.#expressionTokens <= FILE_LIMITS.expressionTokens) return;
    const most = withCommas(FILE_LIMITS.expressionTokens);
    throw new FileLimitExceeded(
      `The file's expressions have more than ${most} words and signs, aliases counted each time`,
      at,
    );
  }

  /** What is made of a scalar, made once however many aliases stand for it. */
  memoize<Made>(node: Scalar, kind: string, make: () => Made): Made {
    const made = this.#once.get(node) ?? new Map<string, unknown>();
    this.#once.set(node, made);
    if (!made.has(kind)) made.set(kind, make());
    return made.get(kind) as Made;
  }
}
