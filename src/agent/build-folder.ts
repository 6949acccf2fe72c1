import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { chownTree, runShell } from "./process/as-user.ts";
import { Cgroup } from "./process/cgroup.ts";
import { ProcessTree } from "./process/process-tree.ts";
import type { StepUser } from "./process/step-user.ts";
import { StepOutput } from "./steps/step-output.ts";

/** Where steps with a user of their own have their builds, in a folder that bears the user's name. */
export const RUN_AS_WORK = "/var/lib/millrace-work";
const PREFIX = "build-";
const RUN_ID = "run-id";
const CGROUP = "cgroup";
/** Those of a build's folders that are, or become, the steps' own. */
const OF_STEPS = ["workspace", "steps", "home", "tmp"];

/** The folder of one build: a fresh workspace, and beside it the files that are between agent and steps. */
export interface BuildFolder {
  path: string;
  workspace: string;
  /** The named pipe that steps write to. */
  pipe: string;
  log: string;
  /** Scripts and command files of steps: theirs to read and write. */
  steps: string;
  /** HOME and TMPDIR of steps with a user of their own. */
  home: string;
  tmp: string;
  /** What steps run in, where the kernel has such a thing for this agent. */
  cgroup: Cgroup | null;
}

/** With a user of its own for steps, the way to the workspace must be open to that user, and nothing else. */
export const makeBuildFolder = async (work: string, user: StepUser | null): Promise<BuildFolder> => {
  makeWorkFolder(work, user);
  const path = mkdtempSync(join(work, PREFIX));
  return fillBuildFolder(path, user).catch(async (error: unknown) => {
    await removeBuildFolder(path, user);
    throw error;
  });
};

const fillBuildFolder = async (path: string, user: StepUser | null): Promise<BuildFolder> => {
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
    cgroup,
  };
  for (const name of OF_STEPS) mkdirSync(join(path, name), { mode: 0o700 });
  await StepOutput.makePipe(folder.pipe);
  if (user) {
    chmodSync(path, 0o711);
    for (const own of [folder.steps, folder.home, folder.tmp, folder.pipe]) chownTree(user, own);
  }
  return folder;
};

/** What it makes is open to the user, whatever the agent's umask says. */
export const makeWorkFolder = (work: string, user: StepUser | null): void => {
  const first = mkdirSync(work, { recursive: true, mode: user ? 0o711 : 0o700 });
  for (let made = work; user && first && made.startsWith(first); made = dirname(made)) chmodSync(made, 0o711);
};

/** Writes down whose folder it is, for an agent that comes after one that was killed. */
export const writeRunId = (folder: BuildFolder, runId: string): void =>
  writeFileSync(join(folder.path, RUN_ID), runId, { mode: 0o600 });

/**
 * Ends what a build has left running, and then removes its folder; not before, for what lives can put a link in the
 * place of a folder that is being removed. @returns whether it is gone: not while a process lives that does not end.
 */
export const endAndRemoveBuild = async (path: string, user: StepUser | null, grace: number): Promise<boolean> => {
  const tree = new ProcessTree(readNote(path, RUN_ID) ?? "none", { user, folder: path, cgroup: cgroupOf(path) });
  if (!(await tree.terminate(grace))) return false;
  await removeBuildFolder(path, user);
  return true;
};

const readNote = (path: string, name: string): string | null => {
  const file = join(path, name);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
};

const cgroupOf = (path: string): Cgroup | null => {
  const cgroup = readNote(path, CGROUP);
  return cgroup === null ? null : new Cgroup(cgroup);
};

/** Empties $1... as their owner; a second time for folders that not even their owner can empty (Go's module cache). */
const EMPTY = `empty() { find "$1" -mindepth 1 -maxdepth 1 -exec rm -rf -- {} +; }
for folder do
  chmod u+rwx "$folder" && { empty "$folder" || { chmod -R u+rwx "$folder"; empty "$folder"; }; }
done`;

const REMOVE = `rm -rf -- "$1" || { chmod -R u+rwx "$1"; rm -rf -- "$1"; }`;

/** What steps have made is removed with their rights; the agent's own are only for what is left then. */
export const removeBuildFolder = async (path: string, user: StepUser | null): Promise<void> => {
  cgroupOf(path)?.remove();
  const ofSteps = OF_STEPS.map((name) => join(path, name));
  if (user) await runShell(user, EMPTY, ofSteps);
  const { code, stderr } = await runShell(null, REMOVE, [path]);
  if (code !== 0) throw new Error(`${path} cannot be removed: ${stderr.trim().split("\n").at(-1)}`);
};

/** Paths of builds that an agent before this one has left: here, and those of this user where all once had theirs. */
export const findLeftovers = (work: string, user: StepUser | null): string[] => {
  const former = user && existsSync(RUN_AS_WORK) ? buildsIn(RUN_AS_WORK) : [];
  const isOurs = (path: string): boolean =>
    lstatSync(join(path, "steps"), { throwIfNoEntry: false })?.uid === user?.uid;
  return [...new Set([...buildsIn(work), ...former.filter(isOurs)])];
};

const buildsIn = (work: string): string[] =>
  readdirSync(work)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(work, name));
