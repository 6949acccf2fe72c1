import { isMapping, isNumber, isScalar, isSequence } from "@actions/workflow-parser";
import type { Matrix } from "../pipeline/graph/graph.ts";
import { expandMatrix } from "../pipeline/graph/matrix.ts";
import { LIMITS } from "../protocol/limits.ts";
import { type Marks, NoEqual } from "./marks.ts";
import { isEqual, type MatrixKey, textOfValue } from "./names.ts";
import { type Comment, OutList, OutMap } from "./out.ts";
import { asMapping, find, isExpression, itemsOf, lineOf, pairsOf, type Source, type WorkflowToken } from "./source.ts";

/* Translates GitHub's matrix, which has typed values and loose comparisons, to one with texts and exact comparisons. */

type Value = string | number | boolean | null;
type Item = Map<string, Value>;

export interface TranslatedMatrix {
  out: OutMap;
  keys: MatrixKey[];
}

const COMPUTED = "a computed matrix";

const asWritten = (value: Value): string | boolean => (typeof value === "boolean" ? value : textOfValue(value));

class MatrixReader {
  readonly #source: Source;
  readonly #marks: Marks;
  readonly comments: Comment[] = [];
  readonly #paths = new Map<string, string>();

  constructor(source: Source, marks: Marks) {
    this.#source = source;
    this.#marks = marks;
  }

  /** @throws {NoEqual} */
  value(token: WorkflowToken): Value {
    if (isExpression(token)) throw new NoEqual(COMPUTED, "matrix");
    if (!isScalar(token)) throw new NoEqual("a nested value of the matrix", "matrix");
    const literal = token.toJSON() as Value;
    const source = isNumber(token) ? this.#source.numberAt(token) : undefined;
    const text = textOfValue(literal);
    if (source !== undefined && source !== text)
      this.comments.push(this.#marks.add("number", `${source} is ${text}`, lineOf(token)));
    if (String(literal).length > LIMITS.jobNameCharacters)
      throw new NoEqual("a matrix value that is too long", "matrix");
    return literal;
  }

  /** Returns the parts of a value, by the names that they have as separate keys. */
  parts(token: WorkflowToken, key: string, path = key): Item {
    if (!isMapping(token)) {
      this.#paths.set(key, path);
      return new Map([[key, this.value(token)]]);
    }
    const parts = pairsOf(token).flatMap((pair) => [
      ...this.parts(pair.value, `${key}-${pair.key}`, `${path}.${pair.key}`),
    ]);
    if (parts.length === 0) throw new NoEqual("an empty value of the matrix", "matrix");
    return new Map(parts);
  }

  /** Returns a key's name on GitHub, if the key is a part of a value. */
  pathOf(key: string): string | undefined {
    const path = this.#paths.get(key);
    return path === key ? undefined : path;
  }

  items(token: WorkflowToken | undefined): Item[] {
    if (token && !isSequence(token)) throw new NoEqual(COMPUTED, "matrix");
    return itemsOf(token).map((item) => {
      if (!isMapping(item)) throw new NoEqual(COMPUTED, "matrix");
      return new Map(pairsOf(item).flatMap(({ key, value }) => [...this.parts(value, key)]));
    });
  }
}

/** Returns an item's equivalents with exact values. Empty if the item fits no value. */
const exactly = (item: Item, axes: Map<string, Value[]>): Item[] => {
  let items: Item[] = [new Map()];
  for (const [key, value] of item) {
    const values = axes.get(key);
    const same = values ? [...new Set(values.filter((one) => isEqual(one, value)))] : [value];
    items = items.flatMap((one) => same.map((exact) => new Map([...one, [key, exact]])));
  }
  return items;
};

const toOut = (item: Item): OutMap => {
  const map = new OutMap();
  for (const [key, value] of item) map.set(key, asWritten(value));
  return map;
};

const asMatrix = (item: Item): Matrix => Object.fromEntries([...item].map(([key, value]) => [key, asWritten(value)]));

/** Returns a name for each value with parts: the first part that distinguishes all of them, or a number. */
const labelsOf = (items: Item[]): string[] => {
  for (const key of items[0]?.keys() ?? []) {
    const texts = items.map((item) => textOfValue(item.get(key) ?? null));
    if (texts.every((text) => text !== "") && new Set(texts).size === texts.length) return texts;
  }
  return items.map((_, index) => String(index + 1));
};

/** Translates a matrix, with comments. @throws {NoEqual} if its values are not in the file */
export const translateMatrix = (token: WorkflowToken, source: Source, marks: Marks): TranslatedMatrix => {
  if (!isMapping(token)) throw new NoEqual(COMPUTED, "matrix");
  const reader = new MatrixReader(source, marks);
  const out = new OutMap();
  const axes = new Map<string, Value[]>();
  const partsOfAxes: Item[] = [];
  /** Axes whose values only name values with parts. */
  const labels = new Set<string>();
  for (const { key, value } of pairsOf(asMapping(token))) {
    if (key === "include" || key === "exclude") continue;
    if (!isSequence(value)) throw new NoEqual(COMPUTED, "matrix");
    const tokens = itemsOf(value);
    const isOfParts = tokens.length > 0 && tokens.every(isMapping);
    const parts = isOfParts ? tokens.map((one) => reader.parts(one, key)) : [];
    const values = isOfParts ? labelsOf(parts) : tokens.map((one) => reader.value(one));
    axes.set(key, values);
    partsOfAxes.push(...parts.map((part, index) => new Map([[key, values[index]!], ...part])));
    if (isOfParts) labels.add(key);
    out.say(...reader.comments.splice(0)).set(key, values.map(asWritten));
  }
  const ownItems = reader.items(find(token, "include"));
  const includeItems = [...partsOfAxes, ...ownItems];
  const excluded = reader.items(find(token, "exclude"));
  for (const item of [...ownItems, ...excluded])
    for (const key of item.keys())
      if ([...labels].some((label) => key === label || reader.pathOf(key)?.startsWith(`${label}.`)))
        throw new NoEqual("`include` or `exclude` of nested values", "matrix");
  const exclude = excluded.flatMap((item) => exactly(item, axes));
  const plain = { axes: [...axes].map(([name, values]) => ({ name, values: values.map(asWritten) })), include: [] };
  // An item that excludes nothing is a mistake here, but not on GitHub.
  const useful = exclude.filter((item) => {
    const { problems = [] } = expandMatrix({ ...plain, exclude: [asMatrix(item)] });
    return problems.every(({ at }) => at !== "exclude");
  });
  const combinations = expandMatrix({ ...plain, exclude: useful.map(asMatrix) }).combinations ?? [];
  const fits = (item: Item) =>
    combinations.some((one) => [...item].every(([key, value]) => !axes.has(key) || one[key] === asWritten(value)));
  const include = includeItems.flatMap((item) => {
    const exact = exactly(item, axes).filter(fits);
    // An item that fits no combination is a separate combination.
    return exact.length > 0 ? exact : [item];
  });
  out.say(...reader.comments.splice(0));
  for (const [key, items] of [
    ["include", include],
    ["exclude", useful],
  ] as const) {
    const list = new OutList();
    for (const item of items) list.add(toOut(item));
    if (!list.isEmpty) out.set(key, list);
  }
  const names = [...new Set([...axes.keys(), ...include.flatMap((item) => [...item.keys()])])];
  const expanded = expandMatrix({ ...plain, include: include.map(asMatrix), exclude: useful.map(asMatrix) });
  if (!expanded.combinations) throw new NoEqual(`a matrix (${expanded.problems[0]?.message})`, "matrix");
  const kinds = (name: string): Value[] => [
    ...(axes.get(name) ?? []),
    ...include.flatMap((item) => (item.has(name) ? [item.get(name)!] : [])),
  ];
  const isMissing = (name: string) => expanded.combinations.some((one) => !Object.hasOwn(one, name));
  const keys = names
    .filter((name) => !labels.has(name))
    .map((name) => ({
      name,
      path: reader.pathOf(name) ?? name,
      values: [...kinds(name), ...(isMissing(name) ? [null] : [])],
    }));
  return { out, keys };
};
