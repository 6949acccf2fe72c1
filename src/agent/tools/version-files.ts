import { parse } from "smol-toml";
import { isToolName, toolName, versionProblem } from "../../pipeline/fields/tool-fields.ts";
import { BuildFailure } from "../build/failure.ts";
import type { Tool } from "./mise-files.ts";

/* Reads the files in which people define the tools of their own machines. Treats the files as text and runs nothing. */

/** A tool and the file that names it. */
interface FoundTool extends Tool {
  from: string;
}

type Reader = (text: string, file: string) => Tool[];

const refuse = (file: string, message: string): never => {
  throw new BuildFailure("pipeline-invalid", `${file}: ${message}`);
};

const checked = (name: string, version: string, file: string): Tool => {
  const miseName = toolName(name);
  const displayName = /^[\w.:@/+-]{1,100}$/.test(name) ? name : "a tool";
  if (!isToolName(miseName)) refuse(file, `unknown tool ${displayName}`);
  const problem = versionProblem(version);
  if (problem !== null) refuse(file, `invalid version of ${displayName}. ${problem}`);
  return { name: miseName, version };
};

const contentLines = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.split("#", 1).join("").trim())
    .filter(Boolean);

/** Parses `node 24.1.0 22.0.0`. The first version counts. */
const toolVersions: Reader = (text, file) =>
  contentLines(text).map((line) => {
    const [name = "", version = ""] = line.split(/\s+/);
    return checked(name, version, file);
  });

/** Converts the words of nvm(1) and others for versions of Node. */
const nodeVersion = (word: string): string => {
  if (word === "node" || word === "stable" || word === "current") return "latest";
  if (word === "lts/*") return "lts";
  if (word.startsWith("lts/")) return `lts-${word.slice("lts/".length).toLowerCase()}`;
  return word.replace(/^v(?=\d)/, "");
};

const oneVersion =
  (name: string, read: (word: string) => string): Reader =>
  (text, file) =>
    contentLines(text)
      .slice(0, 1)
      .map((word) => checked(name, read(word), file));

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parseToml = (text: string, file: string): Record<string, unknown> => {
  try {
    return parse(text);
  } catch {
    return refuse(file, "it is not valid TOML");
  }
};

/** Reads `node = "24"`, `node = { version = "24" }` or a list's first entry. Ignores other keys. */
const versionIn = (value: unknown): string => {
  if (Array.isArray(value)) return versionIn(value[0]);
  if (isTable(value)) return versionIn(value.version);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
};

const miseToml: Reader = (text, file) => {
  const { tools } = parseToml(text, file);
  return Object.entries(isTable(tools) ? tools : {}).map(([name, value]) => checked(name, versionIn(value), file));
};

/** The readers in order. The first file that names a tool decides its version. */
const READERS: readonly (readonly [file: string, read: Reader])[] = [
  ["mise.toml", miseToml],
  [".tool-versions", toolVersions],
  [".node-version", oneVersion("node", nodeVersion)],
  [".nvmrc", oneVersion("node", nodeVersion)],
  [".python-version", oneVersion("python", (word) => word)],
];

export const VERSION_FILES = READERS.map(([file]) => file);

/** Returns the tools in these texts of files, keyed by path. @throws BuildFailure pipeline-invalid */
export const toolsInFiles = (texts: ReadonlyMap<string, string>): FoundTool[] => {
  const tools = new Map<string, FoundTool>();
  for (const [file, read] of READERS) {
    const text = texts.get(file);
    for (const tool of text === undefined ? [] : read(text, file))
      if (!tools.has(tool.name)) tools.set(tool.name, { ...tool, from: file });
  }
  return [...tools.values()];
};
