import { rmSync } from "node:fs";
import { join } from "node:path";
import type { JobLog } from "../log/build-log.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import type { StepUser } from "../process/step-user.ts";
import { RefusedTree } from "./copy-tree.ts";
import type { LockedTool, Tool } from "./mise-config.ts";
import { type ToolScope, ToolStore } from "./tool-store.ts";

/** The store of an agent, and what a build may read of it and add to it. */
export interface StoreOfBuild {
  store: ToolStore;
  /** The build's own scope: what it installs is kept there. */
  own: ToolScope;
  /** That of the default branch; null where nothing tells which it is. */
  main: ToolScope | null;
}

interface Place {
  folder: string;
  root: string;
  user: StepUser | null;
  tree: ProcessTree;
  grace: number;
  log: JobLog;
}

/** Fills the new folder `data` from the store, where that has these tools. @returns whether it did */
export const takeStored = async (
  { store, own, main }: StoreOfBuild,
  tools: Tool[],
  locked: LockedTool[],
  { folder, root, log }: Place,
): Promise<boolean> => {
  const take = async (scope: ToolScope, words: string): Promise<boolean> => {
    const key = ToolStore.key(scope, tools, locked);
    if (!store.has(key)) return false;
    const data = join(folder, "data");
    const taken = await store.take(key, data, join(root, "data")).then(
      () => true,
      () => false,
    );
    if (taken) log.say(`taken from what this agent kept of ${words}`);
    else rmSync(data, { recursive: true, force: true });
    return taken;
  };
  if (await take(own, own.ref)) return true;
  return main !== null && (await take(main, `${main.ref}, the default branch`));
};

/** Keeps what was just installed. Nothing that could change it meanwhile lives: no step has run yet. */
export const keepInstalled = async (
  { store, own }: StoreOfBuild,
  tools: Tool[],
  locked: LockedTool[],
  { folder, root, user, tree, grace, log }: Place,
): Promise<void> => {
  const say = (why: string): void => log.say(`not kept for other builds: ${why}`);
  if (!(await tree.terminate(grace))) return say("something that the installation started does not end");
  const owner = user?.uid ?? process.getuid?.() ?? 0;
  const key = ToolStore.key(own, tools, locked);
  await store.keep(key, join(folder, "data"), { owner, root: join(root, "data") }).catch((error: Error) => {
    say(
      error instanceof RefusedTree ? error.message : ((error as NodeJS.ErrnoException).code ?? "it cannot be copied"),
    );
  });
};
