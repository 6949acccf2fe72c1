import { chmodSync, closeSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BuildFailure } from "../build/failure.ts";
import type { JobLog } from "../log/job-log.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { chownTree, createFileFor, type StepUser } from "../process/step-user.ts";
import { configText, LOCK_FILE, type LockedTool, miseMachine, type Tool, withChecksums } from "./mise-files.ts";
import { findMise, type ToolSources } from "./mise-program.ts";
import { type MiseRun, runMise } from "./run-mise.ts";
import { installedVersions, TOOL_FOLDERS, type ToolEnvironment, toolEnvironment } from "./tool-environment.ts";
import { keepInstalled, type StoreOfBuild, takeStored } from "./tool-store.ts";

/** A tool, and the file of the commit that names it; null if the pipeline file names it. */
export interface WantedTool extends Tool {
  from: string | null;
}

export interface SetUpOptions {
  sources: ToolSources;
  /** The agent's store; null if the agent does not keep installed tools. */
  store: StoreOfBuild | null;
  /** The tools' folder under the path at which the agent created it. */
  folder: string;
  /** The path that everything uses for the folder. It is the same for each build. */
  root: string;
  user: StepUser | null;
  tree: ProcessTree;
  grace: number;
  signal: AbortSignal;
  log: JobLog;
}

/** Creates mise's folders with the only configuration that mise reads. */
const makeFolders = ({ folder, user }: SetUpOptions, tools: Tool[], locked: LockedTool[]): void => {
  for (const name of TOOL_FOLDERS) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  const exact = new Map(locked.map(({ name, version }) => [name, version]));
  const exactTools = tools.map(({ name, version }) => ({ name, version: exact.get(name) ?? version }));
  writeFileSync(join(folder, "run", "mise.toml"), configText(exactTools));
  if (!user) return;
  for (const name of TOOL_FOLDERS) chownTree(user, join(folder, name));
  chmodSync(folder, 0o711);
};

/** Recognizes lines without information for a log, such as mise's progress and hints on more output. */
const isNoise = (line: string): boolean =>
  line.trim() === "" ||
  /[█░]|^\s+\S+\s+.* \d+(?:\.\d+)?s$|Run with --verbose|mise ERROR Version:/.test(line.slice(0, 300));

const OFFLINE = /dns error|error sending request|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|timed out|Connect\)/;

const failed = (lines: string[]): BuildFailure => {
  const errors = lines.filter((line) => /^mise ERROR /.test(line)).map((line) => line.replace(/^mise ERROR /, ""));
  const why = errors.join("\n") || lines.at(-1) || "mise failed";
  const offline = lines.some((line) => OFFLINE.test(line)) ? "\nThe agent may be offline." : "";
  return new BuildFailure("agent-error", `cannot set up tools: ${why}${offline}`);
};

const succeed = async (run: MiseRun, args: string[], onLine: (line: string) => void): Promise<void> => {
  const lines: string[] = [];
  const { code } = await runMise(run, args, (line) => {
    if (isNoise(line)) return;
    lines.push(line);
    onLine(line);
  });
  if (code !== 0) throw failed(lines);
};

/** Lets mise determine its downloads, and requires the repository's checksums for them. */
const holdToChecksums = async (
  locked: LockedTool[],
  run: MiseRun,
  { folder, user, log }: SetUpOptions,
): Promise<void> => {
  await succeed(run, ["lock", "--platform", miseMachine()], () => {});
  // No tool's code has run yet, so nothing except mise has written here.
  const path = join(folder, "run", LOCK_FILE);
  const { text, unchecked } = withChecksums(readFileSync(path, "utf8"), locked);
  rmSync(path);
  const fd = createFileFor(user, path);
  writeFileSync(fd, text);
  closeSync(fd);
  for (const name of unchecked) log.say(`${name}: cannot verify its checksum in ${LOCK_FILE}`);
};

const ask = async (run: MiseRun, ...args: string[]): Promise<string> => (await runMise(run, args, () => {})).stdout;

const versionsNow = async (run: MiseRun): Promise<Map<string, string>> =>
  installedVersions(await ask(run, "ls", "--current", "--json"));

/** Installs and keeps missing tools. @throws BuildFailure if a tool is still missing afterwards */
const ensureInstalled = async (
  tools: WantedTool[],
  locked: LockedTool[],
  run: MiseRun,
  options: SetUpOptions,
): Promise<Map<string, string>> => {
  const before = await versionsNow(run);
  if (tools.every(({ name }) => before.has(name))) return before;
  if (locked.length > 0) await holdToChecksums(locked, run, options);
  await succeed(run, ["install"], (line) => options.log.say(line));
  const after = await versionsNow(run);
  for (const { name, version } of tools)
    if (!after.has(name)) throw new BuildFailure("agent-error", `tools: cannot install ${name} ${version}`);
  if (options.store) await keepInstalled(options.store, tools, locked, options);
  return after;
};

/** Sets up the tools in the folder and writes to the log. @throws BuildFailure, or the signal's reason */
export const setUpTools = async (
  tools: WantedTool[],
  locked: LockedTool[],
  options: SetUpOptions,
): Promise<ToolEnvironment> => {
  const { sources, store, folder, root, user, tree, grace, signal, log } = options;
  const started = performance.now();
  if (store) await takeStored(store, tools, locked, options);
  makeFolders(options, tools, locked);
  const { path: program, note } = await findMise(sources, folder, user, signal);
  if (note !== null) log.say(note);
  const run: MiseRun = { program, root, user, tree, grace, signal };
  const versions = await ensureInstalled(tools, locked, run, options);
  for (const { name, version, from } of tools)
    log.say(`${name} ${versions.get(name)}${from === null ? "" : ` (${version} in ${from})`}`);
  log.say(`${tools.length} tool${tools.length === 1 ? "" : "s"} set up in ${seconds(started)} s`);
  return toolEnvironment(await ask(run, "env", "--json"), join(root, "data"));
};

const seconds = (started: number): string => ((performance.now() - started) / 1000).toFixed(1);
