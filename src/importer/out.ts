import { stringify, type ToStringOptions } from "yaml";

/* The output: a tree of mappings, lists and texts. Comments have places of their own. */

/** A comment's lines, without the sign before them. `kind` is the mark's kind, if the comment is a mark. */
export class Comment {
  readonly lines: string[];
  readonly kind: string | undefined;
  constructor(lines: string[], kind?: string) {
    this.lines = lines;
    this.kind = kind;
  }
}

/** `unit` names the part to remove if the project's own parser rejects the entry's output. */
interface Entry {
  key: string;
  value: Out;
  unit?: string | undefined;
}

/** An empty line. */
export const EMPTY_LINE = new Comment([]);

export class OutMap {
  readonly items: (Comment | Entry)[] = [];

  set(key: string, value: Out | undefined, unit?: string): this {
    if (value !== undefined) this.items.push({ key, value, unit });
    return this;
  }

  say(...comments: (Comment | undefined)[]): this {
    this.items.push(...comments.filter((one) => one !== undefined));
    return this;
  }

  has(key: string): boolean {
    return this.items.some((item) => !(item instanceof Comment) && item.key === key);
  }

  get isEmpty(): boolean {
    return this.items.every((item) => item instanceof Comment);
  }
}

export class OutList {
  readonly items: (Comment | { value: Out; unit?: string | undefined })[] = [];

  add(value: Out, unit?: string): this {
    this.items.push({ value, unit });
    return this;
  }

  say(...comments: (Comment | undefined)[]): this {
    this.items.push(...comments.filter((one) => one !== undefined));
    return this;
  }

  get isEmpty(): boolean {
    return this.items.every((item) => item instanceof Comment);
  }
}

type Out = string | number | boolean | OutMap | OutList | readonly (string | number | boolean)[];

/** A printed line, with its unit. `comment` is the comment that begins in it. */
export interface PrintedLine {
  text: string;
  unit: string;
  comment?: Comment | undefined;
}

const OPTIONS: ToStringOptions = {
  lineWidth: 0,
  blockQuote: "literal",
  flowCollectionPadding: false,
  doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
};

const FLOW_WIDTH = 110;

const flow = (list: readonly (string | number | boolean)[]): string =>
  stringify(list, { ...OPTIONS, collectionStyle: "flow" }).trimEnd();

/** Returns a pair's lines without indentation. A text with several lines is below its key. */
const pairLines = (key: string, value: string | number | boolean): string[] =>
  stringify({ [key]: value }, OPTIONS)
    .replace(/\n$/, "")
    .split("\n");

/** Returns a comment's lines, with `?` for characters that YAML does not accept there. */
const commentLines = (comment: Comment, indent: string, unit: string): PrintedLine[] =>
  comment.lines
    .flatMap((line) => line.split(/\r\n|[\n\r\u0085\u2028\u2029]/))
    .map((line) => line.replaceAll(/[^\t\x20-\x7E\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "?"))
    .map((line, index) => ({
      text: `${indent}# ${line}`.trimEnd(),
      unit,
      comment: index === 0 ? comment : undefined,
    }));

const isBranch = (value: Out): value is OutMap | OutList => value instanceof OutMap || value instanceof OutList;

const isList = (value: Out): value is readonly (string | number | boolean)[] => Array.isArray(value);

const entryLines = ({ key, value, unit: own }: Entry, indent: string, outer: string): PrintedLine[] => {
  const unit = own ?? outer;
  const name = `${indent}${stringify(key, OPTIONS).trimEnd()}:`;
  if (isBranch(value)) return [{ text: name, unit }, ...treeLines(value, `${indent}  `, unit)];
  if (isList(value)) {
    const line = `${name} ${flow(value)}`;
    if (line.length <= FLOW_WIDTH) return [{ text: line, unit }];
    const list = new OutList();
    for (const one of value) list.add(one);
    return [{ text: name, unit }, ...treeLines(list, `${indent}  `, unit)];
  }
  return pairLines(key, value).map((line) => ({ text: line === "" ? "" : indent + line, unit }));
};

/** Returns the lines of a mapping or list. If it has only comments, an empty value follows them. */
export const treeLines = (tree: OutMap | OutList, indent: string, unit: string): PrintedLine[] => {
  const lines = tree.items.flatMap((item, index): PrintedLine[] => {
    if (item === EMPTY_LINE) return index === 0 || tree.items[index - 1] === EMPTY_LINE ? [] : [{ text: "", unit }];
    if (item instanceof Comment) return commentLines(item, indent, unit);
    if ("key" in item) return entryLines(item, indent, unit);
    const own = item.unit ?? unit;
    const inner = isBranch(item.value)
      ? treeLines(item.value, `${indent}  `, own)
      : [{ text: `${indent}  ${flow([item.value as string]).slice(1, -1)}`, unit: own }];
    const first = inner.findIndex(({ text }) => !text.trimStart().startsWith("#"));
    return inner.map((line, index) =>
      index === first ? { ...line, text: `${indent}- ${line.text.slice(indent.length + 2)}` } : line,
    );
  });
  if (tree.isEmpty) lines.push({ text: `${indent}${tree instanceof OutMap ? "{}" : "[]"}`, unit });
  return lines;
};
