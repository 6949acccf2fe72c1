import { type Marks, NoEqual } from "./marks.ts";
import { findName, type Names, textOfValue } from "./names.ts";
import type { Comment } from "./out.ts";
import { misread, type Pair, type Source, tokenText } from "./source.ts";

/* Actions that set a tool up, as `tools`. */

interface SetUp {
  tool: string;
  /** The input that names the version. */
  version: string;
  /** The input that names a file with it. */
  file?: string;
  /** Words in place of a version. */
  words?: Record<string, string>;
}

/** The actions, by their names without a version. */
const SET_UPS: Record<string, SetUp> = {
  "actions/setup-node": {
    tool: "node",
    version: "node-version",
    file: "node-version-file",
    words: { "lts/*": "lts", "lts/-0": "lts", latest: "latest", node: "latest", current: "latest" },
  },
  "actions/setup-python": { tool: "python", version: "python-version", file: "python-version-file" },
  "actions/setup-go": { tool: "go", version: "go-version", file: "go-version-file", words: { stable: "latest" } },
  "actions/setup-java": { tool: "java", version: "java-version", file: "java-version-file" },
  "actions/setup-dotnet": { tool: "dotnet", version: "dotnet-version", file: "global-json-file" },
  "ruby/setup-ruby": { tool: "ruby", version: "ruby-version" },
  "oven-sh/setup-bun": { tool: "bun", version: "bun-version", file: "bun-version-file", words: { latest: "latest" } },
  "denoland/setup-deno": { tool: "deno", version: "deno-version", file: "deno-version-file" },
  "pnpm/action-setup": { tool: "pnpm", version: "version", words: { latest: "latest" } },
  "astral-sh/setup-uv": { tool: "uv", version: "version", file: "version-file", words: { latest: "latest" } },
  "hashicorp/setup-terraform": { tool: "terraform", version: "terraform_version", words: { latest: "latest" } },
};

/** Distributions of Java, as their versions begin. */
const DISTRIBUTIONS = new Set(["temurin", "zulu", "corretto", "liberica", "microsoft", "oracle", "semeru"]);

/** Files that `tools: auto` reads. */
const READ_BY_AUTO = new Set([".nvmrc", ".node-version", ".python-version", ".tool-versions", "mise.toml"]);

/** Inputs without any effect on what the tool does. */
const HARMLESS = new Set([
  "check-latest",
  "token",
  "cache-dependency-path",
  "cache-version",
  "update-environment",
  "distribution",
]);
/** Inputs that ask for a cache. */
const CACHES = new Set(["cache", "bundler-cache", "enable-cache", "cache-write", "package-manager-cache"]);

export const isSetUp = (action: string): boolean => Object.hasOwn(SET_UPS, action.toLowerCase());

/** `18.x` and `v18` are `18`: the newest of them. @throws {NoEqual} */
const readVersion = (version: string, { tool, words = {} }: SetUp): string => {
  const text = version.trim();
  if (Object.hasOwn(words, text)) return words[text]!;
  const plain = /^v?(\d+(?:\.\d+)*)(?:\.[x*])*$/.exec(text)?.[1];
  if (plain === undefined) throw new NoEqual(`${tool} ${text}`, "tool");
  return plain;
};

/** A version, or one that a matrix decides. @throws {NoEqual} */
const versionTemplate = (versionText: string, prefix: string, setUp: SetUp, names: Names): string => {
  if (!versionText.includes("${{")) return prefix + readVersion(versionText, setUp);
  const key = /^\$\{\{\s*matrix\.([\w-]+)\s*\}\}$/i.exec(versionText.trim())?.[1];
  const matrixKey = key === undefined ? undefined : findName(names.matrix ?? [], key, ({ name }) => name);
  if (!matrixKey || matrixKey.values.includes(null)) throw new NoEqual(`${setUp.tool} ${versionText}`, "tool");
  const versions = [...new Set(matrixKey.values.map(textOfValue))].map(
    (value) => [value, readVersion(value, setUp)] as const,
  );
  const changed = versions.filter(([value, version]) => value !== version);
  const name = `matrix.${matrixKey.name}`;
  if (changed.length === 0) return `${prefix}\${{ ${name} }}`;
  return `${prefix}\${{ case(${changed.map(([value, version]) => `${name} == '${value}', '${version}', `).join("")}${name}) }}`;
};

interface Tool {
  tool: string;
  /** Undefined for what the repository's own files say. */
  version: string | undefined;
  comments: Comment[];
}

interface Use {
  action: string;
  inputs: Pair[];
  line: number;
}

/** The tool that a step sets up. @throws {NoEqual} */
export const translateTool = ({ action, inputs, line }: Use, names: Names, source: Source, marks: Marks): Tool => {
  const setUp = SET_UPS[action.toLowerCase()]!;
  const comments: Comment[] = [];
  const input = (name: string) => inputs.find(({ key }) => key.toLowerCase() === name);
  const distribution = input("distribution");
  let prefix = "";
  if (setUp.tool === "java") {
    const name = distribution ? tokenText(distribution.value, source) : "temurin";
    if (!DISTRIBUTIONS.has(name)) throw new NoEqual(`java of ${name}`, "tool");
    prefix = `${name}-`;
  }
  for (const { key, value, line: at } of inputs) {
    const name = key.toLowerCase();
    if (name === setUp.version || name === setUp.file || HARMLESS.has(name)) continue;
    const text = tokenText(value, source);
    if (CACHES.has(name)) {
      if (text !== "false" && text !== "") comments.push(marks.add("cache", `\`${key}\` of ${action}`, at));
    } else comments.push(marks.add("action-input", `\`${key}: ${text}\` of ${action}`, at));
  }
  const version = input(setUp.version);
  const file = setUp.file === undefined ? undefined : input(setUp.file);
  if (version && tokenText(version.value, source) !== "") {
    const original = misread(version.value, source);
    const text = tokenText(version.value, source);
    if (original !== undefined) comments.push(marks.add("number", `${original} is ${text}`, version.line));
    if (text.trim().includes("\n")) throw new NoEqual(`several versions of ${setUp.tool}`, "tool");
    return { tool: setUp.tool, version: versionTemplate(text, prefix, setUp, names), comments };
  }
  const path = file && tokenText(file.value, source);
  if (path !== undefined && READ_BY_AUTO.has(path)) return { tool: setUp.tool, version: undefined, comments };
  if (path !== undefined) throw new NoEqual(`the version of ${setUp.tool} in ${path}`, "tool");
  comments.push(marks.add("tool", `${setUp.tool} without a version (the agent's own is used)`, line));
  return { tool: "", version: "", comments };
};
