import { type Document, isAlias, isScalar, type LineCounter, type Node, visit } from "yaml";
import { withCommas } from "../../protocol/limits.ts";
import { FILE_LIMITS, FileLimitExceeded } from "../fields/limits.ts";
import type { Mistake, Position } from "../mistake.ts";
import type { IncludeState } from "./included-files.ts";

/** Maps each alias to its node, or to undefined. The node is the last one with the alias's anchor before the alias. */
const resolveAliases = (document: Document.Parsed): Map<Node, Node | undefined> => {
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

/** The file of a document, and the files that it includes. */
interface ContextOptions {
  included: IncludeState;
  /** Set for an included file: its path, and the context of the including file. The limits treat both files as one. */
  within?: { file: string; context: ParseContext };
}

/** The state of parsing one document: positions, resolved aliases, limits, and the mistakes found so far. */
export class ParseContext {
  readonly source: string;
  readonly included: IncludeState;
  readonly mistakes: Mistake[];
  /** Hints on text that is valid, but possibly not what the author meant. */
  readonly hints: Mistake[];
  /** How often this file includes others. */
  includes = 0;
  readonly #file: string | undefined;
  readonly #sums: { values: number; characters: number; expressionTokens: number };
  readonly #aliases: Map<Node, Node | undefined>;
  readonly #lines: LineCounter;
  readonly #reported: Map<Mistake[], Set<number>>;
  readonly #memoized = new Map<Node, Map<string, unknown>>();
  /** The last resolved alias. If aliases exceed a limit, the mistake is reported at this alias. */
  #alias: Node | undefined;

  constructor(source: string, document: Document.Parsed, lines: LineCounter, { included, within }: ContextOptions) {
    this.source = source;
    this.included = included;
    this.#file = within?.file;
    this.#sums = within ? within.context.#sums : { values: 0, characters: 0, expressionTokens: 0 };
    this.mistakes = within?.context.mistakes ?? [];
    this.hints = within?.context.hints ?? [];
    this.#reported = new Map([this.mistakes, this.hints].map((list) => [list, new Set<number>()]));
    this.#aliases = resolveAliases(document);
    this.#lines = lines;
    for (const [alias, target] of this.#aliases) if (!target) this.mistake(alias, "This alias has no anchor before it");
  }

  positionAt(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col, ...(this.#file === undefined ? {} : { file: this.#file }) };
  }

  /** Whether to report no more mistakes, because locating each mistake takes time. */
  get isFull(): boolean {
    return this.mistakes.length >= FILE_LIMITS.mistakes;
  }

  mistake(where: Node | number, message: string, suggestion?: string): void {
    this.#report(this.mistakes, where, { message, ...(suggestion === undefined ? {} : { suggestion }) });
  }

  /** Adds mistakes of another file, which has no context of its own. */
  addAll(mistakes: Mistake[]): void {
    this.mistakes.push(...mistakes.slice(0, FILE_LIMITS.mistakes - this.mistakes.length));
  }

  hint(where: Node | number, message: string): void {
    this.#report(this.hints, where, { message });
  }

  /**
   * Adds the first message for an offset. A later message is a consequence of the first one, or comes from another
   * alias of the same node.
   */
  #report(among: Mistake[], where: Node | number, what: { message: string; suggestion?: string }): void {
    const offset = typeof where === "number" ? where : (where.range?.[0] ?? 0);
    const offsets = this.#reported.get(among);
    if (among.length >= FILE_LIMITS.mistakes || offsets?.has(offset)) return;
    offsets?.add(offset);
    among.push({ ...this.positionAt(offset), ...what });
  }

  /** Creates an error for a limit that the file exceeds at this offset. */
  limit(message: string, offset: number): FileLimitExceeded {
    return new FileLimitExceeded(message, offset, this.positionAt(offset));
  }

  /** Returns the node itself, or the node of an alias, for a look at it before `resolve` reads it. */
  peek(node: Node): Node | undefined {
    return isAlias(node) ? this.#aliases.get(node) : node;
  }

  /** Returns the node itself, or the node of an alias. @throws {FileLimitExceeded} */
  resolve(node: Node): Node | undefined {
    if (isAlias(node)) this.#alias = node;
    const target = this.peek(node);
    const sums = this.#sums;
    if (isScalar(target)) sums.characters += target.source?.length ?? 0;
    sums.values++;
    if (sums.values > FILE_LIMITS.values || sums.characters > FILE_LIMITS.read)
      throw this.limit(
        "The aliases up to here make the file larger than its limit",
        (this.#alias ?? node).range?.[0] ?? 0,
      );
    return target;
  }

  /** Counts the tokens of an expression, including `${{` and `}}`. @throws {FileLimitExceeded} */
  countExpression(tokens: number, at: number): void {
    this.#sums.expressionTokens += tokens;
    if (this.#sums.expressionTokens <= FILE_LIMITS.expressionTokens) return;
    const most = withCommas(FILE_LIMITS.expressionTokens);
    throw this.limit(
      `The file's expressions have more than ${most} words and signs, counting each use of an alias`,
      at,
    );
  }

  /** Computes a value of a node once, however many aliases refer to the node. */
  memoize<Made>(node: Node, kind: string, make: () => Made): Made {
    const values = this.#memoized.get(node) ?? new Map<string, unknown>();
    this.#memoized.set(node, values);
    if (!values.has(kind)) values.set(kind, make());
    return values.get(kind) as Made;
  }
}
