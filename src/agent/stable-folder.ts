import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Checkout } from "../pipeline/parse/plan.ts";
import type { JobLog } from "./log/build-log.ts";
import type { ProcessTree } from "./process/process-tree.ts";
import type { JobAnswer } from "./wire/answers.ts";

/** In a build's folder: the path that its workspace has outside of it. */
const NOTE = "stable";

interface Placing {
  folder: { path: string; workspace: string };
  tree: ProcessTree;
  log: JobLog;
}

/**
 * Where the workspace is from here on: moved, where the file asks for it, to the path that each build of the pipeline has
 * on this agent. It lies beside the folders of builds, in the agent's own: steps cannot replace it.
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
    log.say("another build of this machine has the pipeline's path: this one has a path of its own");
    return folder.workspace;
  }
  writeFileSync(join(folder.path, NOTE), workspace, { mode: 0o600 });
  renameSync(folder.workspace, workspace);
  tree.lookIn(workspace);
  return workspace;
};

/** Whoever makes the folder has it. An empty one was left by an agent that died between two steps of the move. */
const claim = (path: string): boolean => {
  try {
    if (existsSync(path)) rmdirSync(path);
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
};

/** Where the workspace of this build is outside of its folder; null for most. */
export const stablePathOf = (buildFolder: string): string | null => {
  const note = join(buildFolder, NOTE);
  return existsSync(note) ? readFileSync(note, "utf8") : null;
};
