import { createHash, randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { JobLog } from "../log/job-log.ts";
import { parseJson } from "../parse-json.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import type { StepUser } from "../process/step-user.ts";
import { type CopyRules, copyTree, RefusedTree } from "./copy-tree.ts";
import type { LockedTool, Tool } from "./mise-files.ts";
import { MISE_VERSION } from "./mise-release.ts";

/** The owner of tools: builds read the tools of their own scope and of the default branch's scope. */
export interface ToolScope {
  repository: string;
  /**
   * Anybody may write pull requests, so only builds of other pull requests use the tools that a pull request's build
   * keeps.
   */
  trust: "branch" | "pull";
  ref: string;
}

/** The folder to which mise installs. Mise can recreate everything else that it keeps. */
const KEPT = "data";
/** Folders with links to the mise program, and with unpacked files. */
const MADE_AGAIN = ["shims", "downloads"];
const ABOUT = "about.json";
const FRESH = ".fresh-";

const sha256 = (...parts: unknown[]): string => createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** Installed tools, in a folder that only the agent can enter. It has an entry for each scope and list of tools. */
export class ToolStore {
  readonly #folder: string;
  readonly #quota: number;

  /** `quota` is in bytes; 0 keeps nothing. */
  constructor(folder: string, quota: number) {
    this.#folder = folder;
    this.#quota = quota;
  }

  static key({ repository, trust, ref }: ToolScope, tools: Tool[], locked: LockedTool[]): string {
    const toolNames = tools.map(({ name, version }) => `${name}@${version}`).sort();
    return sha256(MISE_VERSION, process.platform, process.arch, repository, trust, ref, toolNames, locked);
  }

  has(key: string): boolean {
    return this.#quota > 0 && existsSync(join(this.#folder, key, ABOUT));
  }

  /** Copies an entry to the new folder `to`, and records the use. */
  async take(key: string, to: string, root: string): Promise<void> {
    const entry = join(this.#folder, key);
    const now = new Date();
    utimesSync(join(entry, ABOUT), now, now);
    const owner = process.getuid?.() ?? statSync(entry).uid;
    await copyTree(join(entry, KEPT), to, { owner, root, bytes: Number.POSITIVE_INFINITY, without: [] });
  }

  /** Keeps a copy of `from`. Removes the least recently used entries to make room. @throws RefusedTree */
  async keep(key: string, from: string, rules: Pick<CopyRules, "owner" | "root">): Promise<void> {
    if (this.#quota === 0) return;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(this.#folder)) if (name.startsWith(FRESH)) this.#remove(name);
    const fresh = join(this.#folder, `${FRESH}${randomUUID()}`);
    mkdirSync(fresh, { mode: 0o700 });
    try {
      const bytes = await copyTree(from, join(fresh, KEPT), { ...rules, bytes: this.#quota, without: MADE_AGAIN });
      writeFileSync(join(fresh, ABOUT), JSON.stringify({ bytes }), { flag: "wx" });
      this.#remove(key);
      this.#makeRoom(bytes);
      renameSync(fresh, join(this.#folder, key));
    } finally {
      rmSync(fresh, { recursive: true, force: true });
    }
  }

  #makeRoom(bytes: number): void {
    const entries = readdirSync(this.#folder)
      .filter((name) => !name.startsWith(FRESH))
      .map((name) => ({ name, ...this.#about(name) }))
      .sort((one, other) => other.usedAt - one.usedAt);
    let sum = bytes;
    for (const entry of entries) {
      sum += entry.bytes;
      if (sum > this.#quota) this.#remove(entry.name);
    }
  }

  /** Reads an entry's size and last use. An unreadable entry counts as too large. */
  #about(name: string): { bytes: number; usedAt: number } {
    const path = join(this.#folder, name, ABOUT);
    if (!existsSync(path)) return { bytes: this.#quota + 1, usedAt: 0 };
    const about = parseJson(readFileSync(path, "utf8")) as { bytes?: unknown } | null;
    const bytes = typeof about?.bytes === "number" ? about.bytes : this.#quota + 1;
    return { bytes, usedAt: statSync(path).mtimeMs };
  }

  #remove(name: string): void {
    rmSync(join(this.#folder, name), { recursive: true, force: true });
  }
}

/** The agent's store, with the scopes that a build may read and add to. */
export interface StoreOfBuild {
  store: ToolStore;
  /** The build's own scope. The store keeps its installed tools there. */
  own: ToolScope;
  /** The default branch's scope; null if the branch is unknown. */
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

/** Fills the new folder `data` from the store if it has these tools. @returns whether it did */
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
    const isTaken = await store.take(key, data, join(root, "data")).then(
      () => true,
      () => false,
    );
    if (isTaken) log.say(`reused the tools that this agent kept for ${words}`);
    else rmSync(data, { recursive: true, force: true });
    return isTaken;
  };
  if (await take(own, own.ref)) return true;
  return main !== null && (await take(main, `${main.ref}, the default branch`));
};

/** Keeps the newly installed tools. No process can change them meanwhile, because no step has run yet. */
export const keepInstalled = async (
  { store, own }: StoreOfBuild,
  tools: Tool[],
  locked: LockedTool[],
  { folder, root, user, tree, grace, log }: Place,
): Promise<void> => {
  const say = (why: string): void => log.say(`not kept for other builds: ${why}`);
  if (!(await tree.terminate(grace))) return say("cannot end a process that the installation started");
  const owner = user?.uid ?? process.getuid?.() ?? 0;
  const key = ToolStore.key(own, tools, locked);
  await store.keep(key, join(folder, "data"), { owner, root: join(root, "data") }).catch((error: Error) => {
    say(error instanceof RefusedTree ? error.message : ((error as NodeJS.ErrnoException).code ?? "cannot copy it"));
  });
};
