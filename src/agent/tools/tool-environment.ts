import { mkdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { parseJson } from "../parse-json.ts";

/**
 * Name of the tools' folder in a build's folder, and of a link beside the build's folder. The link gives each build's
 * tools the same path.
 */
export const TOOLS_FOLDER = "tools";

/** Folders for mise's output. The step user owns them if there is one. The agent owns the parent folder. */
export const TOOL_FOLDERS = ["data", "cache", "state", "config", "home", "tmp", "run"];

const linkBeside = (buildFolder: string): string => join(dirname(buildFolder), TOOLS_FOLDER);

/** Creates a build's tools folder. @returns the folder, and its path that is the same in each build */
export const makeToolsFolder = (buildFolder: string): { folder: string; root: string } => {
  const folder = join(buildFolder, TOOLS_FOLDER);
  const root = linkBeside(buildFolder);
  mkdirSync(folder, { mode: 0o700 });
  rmSync(root, { force: true });
  symlinkSync(folder, root);
  return { folder, root };
};

/** Removes the link to this build's tools. */
export const removeToolsLink = (buildFolder: string): void => {
  const link = linkBeside(buildFolder);
  try {
    if (readlinkSync(link) === join(buildFolder, TOOLS_FOLDER)) rmSync(link);
  } catch {
    // The link is missing, or is not a link.
  }
};

/** The tools' environment for steps: folders before their PATH, and variables. */
export interface ToolEnvironment {
  paths: string[];
  variables: Record<string, string>;
}

export const NO_TOOLS: ToolEnvironment = { paths: [], variables: {} };

/** Variables by which programs find a tool. The agent omits all of mise's other variables, whatever their values. */
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

/** Parses the output of `mise env --json` and keeps only paths in `folder`. */
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

/** Returns an environment in which a program finds these tools before the machine's. */
export const withTools = (
  inherited: Record<string, string>,
  { paths, variables }: ToolEnvironment,
): Record<string, string> => {
  if (paths.length === 0) return { ...inherited, ...variables };
  const own = inherited.PATH ?? "/usr/local/bin:/usr/bin:/bin";
  return { ...inherited, ...variables, PATH: [...paths, own].join(delimiter) };
};

/** Parses the output of `mise ls --current --json`. Returns the versions by tool name. */
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
