import { isMapping } from "@actions/workflow-parser";
import { LABEL } from "../protocol/common.ts";
import { translateExpression, translateText } from "./expression.ts";
import { type Marks, NoEqual } from "./marks.ts";
import { findMatrixKey, type Names, textOfValue } from "./names.ts";
import { Comment, OutMap } from "./out.ts";
import { find, itemsOf, lineOf, type Source, tokenText, type WorkflowToken } from "./source.ts";

/* Translates `runs-on` to the agent's requirements. */

type Platform = "linux" | "macos" | "windows";

const HOSTED: [RegExp, Platform][] = [
  [/^ubuntu-/i, "linux"],
  [/^macos-/i, "macos"],
  [/^windows-/i, "windows"],
];
const PLATFORMS = new Map<string, Platform>([
  ["linux", "linux"],
  ["macos", "macos"],
  ["windows", "windows"],
]);

const findPlatform = (label: string): Platform | undefined =>
  HOSTED.find(([pattern]) => pattern.test(label))?.[1] ?? PLATFORMS.get(label.toLowerCase());

/** Reports whether the label says only the platform. */
const isPlatformAlone = (label: string): boolean => /-latest$/i.test(label) || PLATFORMS.has(label.toLowerCase());

export interface Runner {
  requires: OutMap;
  comments: Comment[];
  /** The combinations of the matrix that have agents; null for all. */
  condition: string | null;
}

/** A text with one key of the matrix. */
const WITH_KEY = /^([^$]*)\$\{\{\s*(matrix((?:\.[\w-]+)+))\s*\}\}([^$]*)$/i;

class RunnerReader {
  readonly requires = new OutMap();
  readonly comments: Comment[] = [];
  readonly labels: string[] = [];
  platform: string | undefined;
  condition: string | null = null;
  readonly #names: Names;
  readonly #marks: Marks;
  readonly #line: number;

  constructor(names: Names, marks: Marks, line: number) {
    this.#names = names;
    this.#marks = marks;
    this.#line = line;
  }

  #platform(platform: string): void {
    if (platform === "windows") throw new NoEqual("a Windows runner", "windows");
    if (this.platform !== undefined && this.platform !== platform)
      throw new NoEqual("two platforms in `runs-on`", "label");
    this.platform = platform;
  }

  #label(label: string): void {
    if (!LABEL.test(label) && !label.includes("${{")) throw new NoEqual(`the label ${label}`, "label");
    this.comments.push(this.#marks.add("label", label, this.#line));
    this.labels.push(label);
  }

  word(text: string): void {
    if (text.toLowerCase() === "self-hosted") return;
    const platform = findPlatform(text);
    if (platform) this.#platform(platform);
    if (!platform || !isPlatformAlone(text)) this.#label(text);
  }

  /** Translates a computed label. If a key of the matrix decides it, its platforms are known. */
  template(text: string): void {
    const [, before = "", inner = "", path = "", after = ""] = WITH_KEY.exec(text) ?? [];
    const key = path.slice(1);
    const matrixKey = key === "" ? undefined : findMatrixKey(this.#names.matrix ?? [], key);
    const values = [...new Set(matrixKey?.values.map(textOfValue) ?? [])];
    const label = translateText(text, this.#names);
    const translation = inner === "" ? "" : translateExpression(inner, this.#names);
    const labelOf = (value: string) => before + value + after;
    const platforms = values.map((value) => findPlatform(labelOf(value)));
    if (values.length === 0 || platforms.includes(undefined)) {
      this.#label(label);
      return;
    }
    const kinds = [...new Set(platforms)].filter((kind) => kind !== "windows");
    if (kinds.length === 0) throw new NoEqual("a Windows runner", "windows");
    this.#withoutWindows(
      translation,
      values.filter((value) => findPlatform(labelOf(value)) === "windows"),
    );
    const cases = kinds.slice(0, -1).map((kind) => {
      const comparisons = values
        .filter((value) => findPlatform(labelOf(value)) === kind)
        .map((value) => `${translation} == '${value}'`);
      return `${comparisons.join(" || ")}, '${kind}', `;
    });
    this.#platform(cases.length === 0 ? kinds[0]! : `\${{ case(${cases.join("")}'${kinds.at(-1)}') }}`);
    if (!values.every((value) => isPlatformAlone(labelOf(value)))) this.#label(label);
  }

  #withoutWindows(translation: string, values: string[]): void {
    if (values.length === 0) return;
    this.comments.push(this.#marks.add("windows", `a Windows runner (${values.join(", ")})`, this.#line));
    this.condition = values.map((value) => `${translation} != '${value}'`).join(" && ");
  }
}

/** @throws {NoEqual} if no agent could be distinguished by it */
export const translateRunner = (token: WorkflowToken, names: Names, source: Source, marks: Marks): Runner => {
  const reader = new RunnerReader(names, marks, lineOf(token));
  if (isMapping(token) && find(token, "group"))
    reader.comments.push(
      marks.add("label", `the runner group ${tokenText(find(token, "group")!, source)}`, lineOf(token)),
    );
  for (const item of itemsOf(isMapping(token) ? find(token, "labels") : token)) {
    const text = tokenText(item, source).trim();
    if (text.includes("${{")) reader.template(text);
    else reader.word(text);
  }
  const { requires, comments, labels, platform, condition } = reader;
  requires.set("platform", platform).set("labels", labels.length > 0 ? labels : undefined);
  return { requires, comments, condition };
};

/** Adds a requirement to those that a job has from `runs-on`. */
export const addRequirement = (job: OutMap, key: "android"): void => {
  const entry = job.items.find((item) => !(item instanceof Comment) && item.key === "requires");
  const requires = entry && "value" in entry && entry.value instanceof OutMap ? entry.value : new OutMap();
  if (!requires.has(key)) requires.set(key, true);
  if (!entry) job.set("requires", requires);
};
