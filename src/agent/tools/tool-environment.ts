import { mkdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { parseJson } from "../parse-json.ts";

/** The name of the tools' folder in that of a build, and of a link to it beside: so each build's tools have one path. */
export const TOOLS_FOLDER = "tools";

/** Folders in it that mise writes to. With a step user they are that user's; the folder itself is the agent's. */
export const TOOL_FOLDERS = ["data", "cache", "state", "config", "home", "tmp", "run"];

const linkBeside = (buildFolder: string): string => join(dirname(buildFolder), TOOLS_FOLDER);

/** Makes the folder of a build's tools. @returns it, and the path that it has in each build */
export const makeToolsFolder = (buildFolder: string): { folder: string; root: string } => {
  const folder = join(buildFolder, TOOLS_FOLDER);
  const root = linkBeside(buildFolder);
  mkdirSync(folder, { mode: 0o700 });
  rmSync(root, { force: true });
  symlinkSync(folder, root);
  return { folder, root };
};

/** Removes the link to the tools of this build. */
export const removeToolsLink = (buildFolder: string): void => {
  const link = linkBeside(buildFolder);
  try {
    if (readlinkSync(link) === join(buildFolder, TOOLS_FOLDER)) rmSync(link);
  } catch {
    // There is none, or it is no link.
  }
};

/** What the steps get of the tools: folders before their PATH, and variables. */
export interface ToolEnvironment {
  paths: string[];
  variables: Record<string, string>;
}

export const NO_TOOLS: ToolEnvironment = { paths: [], variables: {} };

/** Variables by which programs find a tool. All others that mise names are left out, whatever they say. */
const FOLDER_VARIABLES = new Set(
  [
    "JAVA_HOME GOROOT GOBIN GOPATH CARGO_HOME RUSTUP_HOME DOTNET_ROOT ANDROID_HOME ANDROID_SDK_ROOT FLUTTER_ROOT",
    "GRADLE_HOME MAVEN_HOME M2_HOME KOTLIN_HOME SCALA_HOME GRAALVM_HOME ERLANG_HOME BUN_INSTALL DENO_INSTALL_ROOT",
  ].flatMap((line) => line.split(" ")),
);
const WORD_VARIABLES = new Set(["RUSTUP_TOOLCHAIN", "GOTOOLCHAIN"]);
const WORD = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/;

const isBelow = (folder: string, path: string): boolean =>
  path.startsWith(`${folder}/`) && !path.split("/").includes("..") && !/[\x00-\x1f\x7f]/.test(path);

/** Reads what `mise env --json` prints: of it only what lies in `folder`. */
export const toolEnvironment = (printed: string, folder: string): ToolEnvironment => {
  const read = parseJson(printed);
  const entries = Object.entries(typeof read === "object" && read !== null ? read : {}).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : [],
  );
  const path = entries.find(([name]) => name === "PATH")?.[1] ?? "";
  return {
    paths: path.split(delimiter).filter((one) => isBelow(folder, one)),
    variables: Object.fromEntries(
      entries.filter(
        ([name, value]) =>
          (FOLDER_VARIABLES.has(name) && isBelow(folder, value)) || (WORD_VARIABLES.has(name) && WORD.test(value)),
      ),
    ),
  };
};

/** The environment of a program that finds these tools before those of the machine. */
export const withTools = (
  inherited: Record<string, string>,
  { paths, variables }: ToolEnvironment,
): Record<string, string> => {
  if (paths.length === 0) return { ...inherited, ...variables };
  const own = inherited.PATH ?? "/usr/local/bin:/usr/bin:/bin";
  return { ...inherited, ...variables, PATH: [...paths, own].join(delimiter) };
};

/** The versions in what `mise ls --current --json` prints, by the names of the tools. */
export const installedVersions = (printed: string): Map<string, string> => {
  const read = parseJson(printed);
  const versions = new Map<string, string>();
  for (const [name, installations] of Object.entries(typeof read === "object" && read !== null ? read : {})) {
    const [first] = Array.isArray(installations) ? installations : [];
    const version: unknown = first?.installed === true ? first.version : undefined;
    if (typeof version === "string" && WORD.test(version)) versions.set(name, version);
  }
  return versions;
};
