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
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ProcessTree } from "./process-tree.ts";
import { StepOutput } from "./step-output.ts";
import { giveTo, type StepUser } from "./step-user.ts";

const PREFIX = "build-";
const OWNER = "run-id";

/** The folder of one build: a fresh workspace, and beside it the files that are between agent and steps. */
export interface BuildFolder {
  path: string;
  workspace: string;
  /** The named pipe that steps write to. */
  pipe: string;
  spool: string;
  /** Scripts and command files of steps: theirs to read and write. */
  steps: string;
}

/** With a user of its own for steps, the way to the workspace must be open to that user, and nothing else. */
export const makeBuildFolder = async (work: string, user: StepUser | null): Promise<BuildFolder> => {
  mkdirSync(work, { recursive: true, mode: user ? 0o711 : 0o700 });
  const path = mkdtempSync(join(work, PREFIX));
  return furnish(path, user).catch(async (error: unknown) => {
    await removeBuildFolder(path);
    throw error;
  });
};

const furnish = async (path: string, user: StepUser | null): Promise<BuildFolder> => {
  const folder: BuildFolder = {
    path,
    workspace: join(path, "workspace"),
    pipe: join(path, "output"),
    spool: join(path, "log"),
    steps: join(path, "steps"),
  };
  mkdirSync(folder.workspace, { mode: 0o700 });
  mkdirSync(folder.steps, { mode: 0o700 });
  await StepOutput.make(folder.pipe);
  if (user) {
    chmodSync(path, 0o711);
    giveTo(user, folder.steps);
    giveTo(user, folder.pipe);
  }
  return folder;
};

/** Steps may leave folders that not even their owner can empty (Go's module cache does). */
export const removeBuildFolder = async (path: string): Promise<void> => {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 });
  await remove().catch(() => {
    openUp(path);
    return remove();
  });
};

const openUp = (path: string): void => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) openUp(join(path, name));
};

/** Writes down whose folder it is, for an agent that comes after one that was killed. */
export const nameRun = (folder: BuildFolder, runId: string): void =>
  writeFileSync(join(folder.path, OWNER), runId, { mode: 0o600 });

/** Ends what a killed agent's builds have left running, and removes what they have left on disk. */
export const removeLeftovers = async (work: string, grace: number): Promise<void> => {
  mkdirSync(work, { recursive: true });
  for (const name of readdirSync(work)) {
    if (!name.startsWith(PREFIX)) continue;
    const path = join(work, name);
    const owner = join(path, OWNER);
    if (existsSync(owner)) await new ProcessTree(readFileSync(owner, "utf8")).end(grace);
    await removeBuildFolder(path);
  }
};
