import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Checkout } from "../../pipeline/parse/plan.ts";
import { inParallel } from "../in-parallel.ts";
import type { JobLog } from "../log/job-log.ts";
import { Cgroup } from "../process/cgroup.ts";
import { ProcessTree } from "../process/process-tree.ts";
import { chownTree, runShell, type StepUser } from "../process/step-user.ts";
import { StepOutput } from "../steps/step-process.ts";
import { removeToolsLink, TOOL_FOLDERS, TOOLS_FOLDER } from "../tools/tool-environment.ts";
import type { JobAnswer } from "../wire/answers.ts";

/** The file in a build's folder that contains the workspace's path outside that folder. */
const NOTE = "stable";

interface Placing {
  folder: { path: string; workspace: string };
  tree: ProcessTree;
  log: JobLog;
}

/**
 * Returns the workspace's path from now on. If the file requires a shared path, moves the workspace to the path that
 * all the pipeline's builds share on this agent. That path is beside the builds' folders, in the agent's own folder, so
 * steps cannot replace it.
 */
export const placeWorkspace = (
  { build: { repoId }, pipeline: { name } }: JobAnswer,
  checkout: Checkout | false,
  { folder, tree, log }: Placing,
): string => {
  if (checkout === false || !checkout.path) return folder.workspace;
  const hash = createHash("sha256").update(`${repoId} ${name}`).digest("hex").slice(0, 16);
  const workspace = join(dirname(folder.path), `checkout-${hash}`);
  if (!claim(workspace)) {
    log.say("another build on this machine uses the pipeline's path: this build uses its own path");
    return folder.workspace;
  }
  writeFileSync(join(folder.path, NOTE), workspace, { mode: 0o600 });
  renameSync(folder.workspace, workspace);
  tree.lookIn(workspace);
  return workspace;
};

/** Claims the path by creating a folder. An empty folder is left over from an agent that died during the move. */
const claim = (path: string): boolean => {
  try {
    if (existsSync(path)) rmdirSync(path);
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
};

/** Returns this build's workspace path outside its folder. Returns null for most builds. */
const readStablePath = (buildFolder: string): string | null => {
  const note = join(buildFolder, NOTE);
  return existsSync(note) ? readFileSync(note, "utf8") : null;
};

/** Default work folder of agents with --run-as. It contains a folder for each user. */
export const RUN_AS_WORK = "/var/lib/millrace-work";
const PREFIX = "build-";
const RUN_ID = "run-id";
const CGROUP = "cgroup";
/** A build's folders that steps own with --run-as. */
const STEP_FOLDERS = ["workspace", "steps", "home", "tmp", "files"];

/** One build's folder: a new workspace, and the files that the agent and steps exchange. */
export interface BuildFolder {
  path: string;
  workspace: string;
  /** The named pipe that steps write to. */
  pipe: string;
  log: string;
  /** Scripts and command files of the steps. Steps may read and write them. */
  steps: string;
  /** HOME and TMPDIR of steps with --run-as. */
  home: string;
  tmp: string;
  /** The files behind variables of type file. */
  files: string;
  /** The steps' control group; null where this agent cannot create one. */
  cgroup: Cgroup | null;
}

/**
 * Creates a build's folder. With --run-as, the steps' user may pass through it to the workspace, and read nothing else
 * in it. `fill` adds content that the steps' user may use later.
 */
export const makeBuildFolder = async (
  work: string,
  user: StepUser | null,
  fill: (folder: BuildFolder) => Promise<void> = async () => {},
): Promise<BuildFolder> => {
  makeWorkFolder(work, user);
  const path = mkdtempSync(join(work, PREFIX));
  return fillBuildFolder(path, user, fill).catch(async (error: unknown) => {
    await removeBuildFolder(path, user);
    throw error;
  });
};

const fillBuildFolder = async (
  path: string,
  user: StepUser | null,
  fill: (folder: BuildFolder) => Promise<void>,
): Promise<BuildFolder> => {
  const cgroup = Cgroup.make(path);
  if (cgroup) writeFileSync(join(path, CGROUP), cgroup.path, { mode: 0o600 });
  const folder: BuildFolder = {
    path,
    workspace: join(path, "workspace"),
    pipe: join(path, "output"),
    log: join(path, "log"),
    steps: join(path, "steps"),
    home: join(path, "home"),
    tmp: join(path, "tmp"),
    files: join(path, "files"),
    cgroup,
  };
  for (const name of STEP_FOLDERS) mkdirSync(join(path, name), { mode: 0o700 });
  await inParallel(StepOutput.makePipe(folder.pipe), fill(folder));
  if (user) {
    chmodSync(path, 0o711);
    for (const stepPath of [folder.steps, folder.home, folder.tmp, folder.files, folder.pipe])
      chownTree(user, stepPath);
  }
  return folder;
};

/** Creates the work folder. The steps' user may pass through it, whatever the agent's umask is. */
export const makeWorkFolder = (work: string, user: StepUser | null): void => {
  const first = mkdirSync(work, { recursive: true, mode: user ? 0o711 : 0o700 });
  for (let folder = work; user && first && folder.startsWith(first); folder = dirname(folder)) chmodSync(folder, 0o711);
};

/** Saves the run id, so that a later agent can clean up after a killed one. */
export const writeRunId = (folder: BuildFolder, runId: string): void =>
  writeFileSync(join(folder.path, RUN_ID), runId, { mode: 0o600 });

/**
 * Ends a build's processes, then removes its folder. During the removal, a living process could replace a folder by a
 * link.
 * @returns false when a process does not end; the folder then stays
 */
export const endAndRemoveBuild = async (path: string, user: StepUser | null, grace: number): Promise<boolean> => {
  const tree = new ProcessTree(readNote(path, RUN_ID) ?? "none", { user, folder: path, cgroup: openCgroup(path) });
  const stable = readStablePath(path);
  if (stable) tree.lookIn(stable);
  if (!(await tree.terminate(grace))) return false;
  await removeBuildFolder(path, user);
  return true;
};

const readNote = (path: string, name: string): string | null => {
  const file = join(path, name);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
};

const openCgroup = (path: string): Cgroup | null => {
  const cgroup = readNote(path, CGROUP);
  return cgroup === null ? null : new Cgroup(cgroup);
};

/** Empties the folders $1... as their owner. Retries after chmod, because Go makes its module cache read-only. */
const EMPTY_SCRIPT = `empty() { find "$1" -mindepth 1 -maxdepth 1 -exec rm -rf -- {} +; }
for folder do
  chmod u+rwx "$folder" && { empty "$folder" || { chmod -R u+rwx "$folder"; empty "$folder"; }; }
done`;

const REMOVE_SCRIPT = `rm -rf -- "$1" || { chmod -R u+rwx "$1"; rm -rf -- "$1"; }`;

/** Removes the steps' files with the steps' rights, then the rest with the agent's. @throws when a part remains */
export const removeBuildFolder = async (path: string, user: StepUser | null): Promise<void> => {
  removeToolsLink(path);
  openCgroup(path)?.remove();
  const stable = readStablePath(path);
  const stepFolders = [...STEP_FOLDERS, ...TOOL_FOLDERS.map((name) => join(TOOLS_FOLDER, name))].map((name) =>
    join(path, name),
  );
  if (user) await runShell(user, EMPTY_SCRIPT, stable ? [...stepFolders, stable] : stepFolders);
  // The loop removes the stable path's note last.
  for (const folder of stable ? [stable, path] : [path]) {
    const { code, stderr } = await runShell(null, REMOVE_SCRIPT, [folder]);
    if (code !== 0) throw new Error(`cannot remove ${folder}: ${stderr.trim().split("\n").at(-1)}`);
  }
};

/** Removes the files of a build whose processes have ended, before the agent reports the build's end. */
export const removeFiles = async ({ files }: Pick<BuildFolder, "files">, user: StepUser | null): Promise<void> => {
  if (hasEntries(files)) await runShell(user, user ? EMPTY_SCRIPT : REMOVE_SCRIPT, [files]);
};

const hasEntries = (folder: string): boolean => {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
};

/**
 * Finds folders of builds that an earlier agent left: those in `work`, and this user's builds in the folder that all
 * users once shared.
 */
export const findLeftovers = (work: string, user: StepUser | null): string[] => {
  const shared = user && existsSync(RUN_AS_WORK) ? buildsIn(RUN_AS_WORK) : [];
  const isOurs = (path: string): boolean =>
    lstatSync(join(path, "steps"), { throwIfNoEntry: false })?.uid === user?.uid;
  return [...new Set([...buildsIn(work), ...shared.filter(isOurs)])];
};

const buildsIn = (work: string): string[] =>
  readdirSync(work)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(work, name));
