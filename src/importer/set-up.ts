import { LineCounter } from "yaml";
import { ActionInputs } from "./action-inputs.ts";
import { versionInFile } from "./beside.ts";
import type { KnownCache } from "./known-caches.ts";
import { type Marks, NoEqual } from "./marks.ts";
import { findMatrixKey, type Names, textOfValue, withVariables } from "./names.ts";
import type { Comment } from "./out.ts";
import { documentIn } from "./read-workflow.ts";
import type { Commands, SetUpPlace, ToolInput } from "./set-up-rules.ts";
import { SET_UPS } from "./set-ups.ts";
import { misread, type Pair, type Source } from "./source.ts";
import { MATRIX_KEY, versionTemplate } from "./tool-versions.ts";

export interface SetUpTool {
  name: string;
  /** Undefined if a file of the repository decides. */
  version: string | undefined;
  /** The file that names the version, and its current version. */
  file?: string;
  read?: string | undefined;
}

interface TranslatedSetUp {
  tools: SetUpTool[];
  caches: KnownCache[];
  commands: Commands | undefined;
  outputs: Map<string, string> | undefined;
  /** The agent's requirement, as a key of `requires`. */
  requires: "android" | undefined;
  comments: Comment[];
}

interface Use {
  action: string;
  ref: string;
  inputs: Pair[];
  line: number;
}

/** Java distributions, by the prefix of their versions. */
const DISTRIBUTIONS = new Set(["temurin", "zulu", "corretto", "liberica", "microsoft", "oracle", "semeru"]);

/** Files that `tools: auto` reads. */
const READ_BY_AUTO = new Set([".nvmrc", ".node-version", ".python-version", ".tool-versions", "mise.toml"]);

/** Inputs of any action that do not affect its tool. */
const HARMLESS = ["check-latest", "token", "github-token", "cache-dependency-path"];

/** Returns the prefix of Java versions, which names the distribution. @throws {NoEqual} */
const prefixOf = (tool: string, inputs: ActionInputs): string => {
  if (tool !== "java") return "";
  const distribution = inputs.text("distribution") ?? "temurin";
  if (!DISTRIBUTIONS.has(distribution)) throw new NoEqual(`java from ${distribution}`, "tool");
  return `${distribution}-`;
};

const readYaml = (text: string): unknown => documentIn(text, new LineCounter()).toJS({ maxAliasCount: 100 });

class SetUpReader {
  readonly #names: Names;
  readonly #source: Source;
  readonly #marks: Marks;
  readonly #use: Use;
  readonly comments: Comment[] = [];

  constructor(use: Use, names: Names, source: Source, marks: Marks) {
    this.#use = use;
    this.#names = names;
    this.#source = source;
    this.#marks = marks;
  }

  read(): TranslatedSetUp {
    const { action, ref, inputs: pairs, line } = this.#use;
    const row = SET_UPS[action.toLowerCase()]!;
    const inputs = new ActionInputs(pairs, this.#source);
    const place: SetUpPlace = {
      inputs,
      ref,
      beside: this.#source.beside,
      readYaml,
      valuesOf: (text) => this.#valuesOf(text),
    };
    const versions = row.versions?.(place) ?? new Map<string, string>();
    const caches = this.#caches(row.caches, place, line);
    const commands = row.commands?.(place);
    const outputs = row.outputs?.(place);
    const tools = (row.tools ?? []).flatMap((tool) => this.#tool(tool, versions, inputs));
    for (const [name, version] of versions)
      if (row.tools?.every(({ tool }) => tool !== name))
        tools.push({ name, version: this.#version(version, { tool: name, words: { latest: "latest" } }, "") });
    inputs.pass(...HARMLESS, ...(row.harmless ?? "").split(" "));
    for (const { key, text, line: at } of inputs.rest())
      this.comments.push(this.#marks.add("action-input", `\`${key}: ${text}\` of ${action}`, at));
    return { tools, caches, commands, outputs, requires: row.requires, comments: this.comments };
  }

  #caches(caches: ((place: SetUpPlace) => KnownCache[]) | undefined, place: SetUpPlace, line: number): KnownCache[] {
    try {
      return caches?.(place) ?? [];
    } catch (error) {
      if (!(error instanceof NoEqual)) throw error;
      this.comments.push(this.#marks.add("cache", `${error.message} of ${this.#use.action}`, line));
      return [];
    }
  }

  #valuesOf(text: string): string[] | undefined {
    const key = [...text.matchAll(MATRIX_KEY)][0]?.[1];
    if (key === undefined) return text.includes("${{") ? undefined : [text];
    const matrixKey = findMatrixKey(this.#names.matrix ?? [], key);
    const values = matrixKey?.values.map((value) => text.replaceAll(MATRIX_KEY, () => textOfValue(value)));
    return values?.some((one) => one.includes("${{")) ? undefined : values;
  }

  #version(text: string, tool: ToolInput, prefix: string): string {
    const versions = text.trim().split("\n");
    if (versions.length > 1 && !tool.isSeveral) throw new NoEqual(`several versions of ${tool.tool}`, "tool");
    return versionTemplate(withVariables(versions.at(-1)!.trim(), this.#names), prefix, tool, this.#names);
  }

  #tool(tool: ToolInput, versions: Map<string, string>, inputs: ActionInputs): SetUpTool[] {
    const name = tool.tool;
    const { beside } = this.#source;
    const prefix = prefixOf(name, inputs);
    const pair = tool.version === undefined ? undefined : inputs.pair(tool.version);
    const original = pair && misread(pair.value, this.#source);
    const text = pair && new ActionInputs([pair], this.#source).text(pair.key.toLowerCase());
    const file = tool.file === undefined ? undefined : inputs.text(tool.file);
    const isFile = tool.files?.includes(text ?? "") || text === "default";
    if (text !== undefined && !isFile) {
      if (original !== undefined) this.comments.push(this.#marks.add("number", `${original} is ${text}`, pair!.line));
      return tool.words?.[text] === "" ? [] : [{ name, version: this.#version(text, tool, prefix) }];
    }
    const given = versions.get(name);
    if (given !== undefined) return [{ name, version: this.#version(given, tool, prefix) }];
    if (file !== undefined) return [this.#inFile(file, tool, prefix)];
    if (tool.isOptional) return [];
    for (const one of tool.files ?? []) {
      const found = beside && versionInFile(name, one, beside);
      if (found !== undefined) return [this.#inFile(one, tool, prefix)];
    }
    if (tool.otherwise !== undefined && (beside || !tool.files)) return [{ name, version: prefix + tool.otherwise }];
    const what = `${name} without a version (the agent's own is used)`;
    this.comments.push(this.#marks.add("tool", what, this.#use.line));
    return [];
  }

  /** Reads a version from a file. `tools: auto` reads some files itself; other files' versions are written out. */
  #inFile(file: string, tool: ToolInput, prefix: string): SetUpTool {
    const { beside } = this.#source;
    const path = file.replace(/^\.\//, "");
    const found = path.includes("${{") || !beside ? undefined : versionInFile(tool.tool, path, beside);
    const read = found === undefined ? undefined : this.#version(found, tool, prefix);
    // The first of its files counts, so no earlier one may exist.
    const isFirst =
      !beside || ["mise.toml", ".tool-versions"].every((one) => one === path || beside(one) === undefined);
    if (READ_BY_AUTO.has(path) && isFirst) return { name: tool.tool, version: undefined, file: path, read };
    if (read === undefined) throw new NoEqual(`the version of ${tool.tool} in ${file}`, "tool");
    return { name: tool.tool, version: read, file: path };
  }
}

/** Translates a set-up step. @throws {NoEqual} */
export const translateSetUp = (use: Use, names: Names, source: Source, marks: Marks): TranslatedSetUp =>
  new SetUpReader(use, names, source, marks).read();
