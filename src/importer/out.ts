import { stringify } from "yaml";

/* What is printed: a tree of mappings, lists and texts, in which comments have places of their own. */

/** Lines of a comment, without the sign before them. */
export class Comment {
  readonly lines: string[];
  constructor(lines: string[]) {
    this.lines = lines;
  }
}

/** `unit` names what would be taken out if the project's own parser refused what is printed of it. */
interface Entry {
  key: string;
  value: Out;
  unit?: string | undefined;
}

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

export type Out = string | number | boolean | OutMap | OutList | readonly (string | number | boolean)[];

/** A printed line, and the unit that it belongs to. */
export interface PrintedLine {
  text: string;
  unit: string;
}

const OPTIONS = { lineWidth: 0, blockQuote: "literal", flowCollectionPadding: false } as const;

const FLOW_WIDTH = 100;

/** A text or a list of them: the lines after the first are indented relative to the key's line. */
const scalarLines = (value: Exclude<Out, OutMap | OutList>): string[] => {
  const printed = stringify(value, { ...OPTIONS, collectionStyle: Array.isArray(value) ? "flow" : "any" });
  return printed.replace(/\n$/, "").split("\n");
};

/** What YAML would not take in a comment is left out of it. */
const commentLines = (comment: Comment, indent: string, unit: string): PrintedLine[] =>
  comment.lines
    .flatMap((line) => line.split(/\r\n|[\n\r\u0085\u2028\u2029]/))
    .map((line) => line.replaceAll(/[^\t\x20-\x7E\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "?"))
    .map((line) => ({ text: `${indent}# ${line}`.trimEnd(), unit }));

const isBranch = (value: Out): value is OutMap | OutList => value instanceof OutMap || value instanceof OutList;

const entryLines = ({ key, value, unit: own }: Entry, indent: string, outer: string): PrintedLine[] => {
  const unit = own ?? outer;
  const name = `${indent}${scalarLines(key)[0]}:`;
  if (isBranch(value)) return [{ text: name, unit }, ...treeLines(value, `${indent}  `, unit)];
  if (Array.isArray(value) && (value.length === 0 || scalarLines(value)[0]!.length > FLOW_WIDTH)) {
    const list = new OutList();
    for (const one of value) list.add(one);
    return [{ text: name, unit }, ...treeLines(list, `${indent}  `, unit)];
  }
  const [first = "", ...rest] = scalarLines(value);
  return [
    { text: `${name} ${first}`, unit },
    ...rest.map((line) => ({ text: line === "" ? "" : indent + line, unit })),
  ];
};

/** The lines of a mapping or list. One of nothing but comments is empty below them. */
export const treeLines = (tree: OutMap | OutList, indent: string, unit: string): PrintedLine[] => {
  const lines = tree.items.flatMap((item): PrintedLine[] => {
    if (item instanceof Comment) return commentLines(item, indent, unit);
    if ("key" in item) return entryLines(item, indent, unit);
    const own = item.unit ?? unit;
    const inner = isBranch(item.value)
      ? treeLines(item.value, `${indent}  `, own)
      : [{ text: `${indent}  ${scalarLines(item.value)[0]}`, unit: own }];
    const first = inner.findIndex(({ text }) => !text.trimStart().startsWith("#"));
    return inner.map((line, index) =>
      index === first ? { ...line, text: `${indent}- ${line.text.slice(indent.length + 2)}` } : line,
    );
  });
  if (tree.isEmpty) lines.push({ text: `${indent}${tree instanceof OutMap ? "{}" : "[]"}`, unit });
  return lines;
};
