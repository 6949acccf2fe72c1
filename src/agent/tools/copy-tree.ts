import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, readlink, symlink } from "node:fs/promises";
import { join, normalize } from "node:path";
import { MIB } from "../../protocol/units.ts";

/* Copies a folder that another user may have filled. Opens each entry by its own name and follows no link. */

/** A tree that the agent does not copy. `message` names the cause. */
export class RefusedTree extends Error {}

export interface CopyRules {
  /** The required owner of each entry. */
  owner: number;
  /** The tree's path for its users. Absolute links into it may stay. */
  root: string;
  /** Maximum total bytes of all files. */
  bytes: number;
  /** Names to omit from the tree's own folder. */
  without: readonly string[];
}

/** Maximum entries of a tree and levels of folders. Both are far above those of any tool. */
const MOST_ENTRIES = 500_000;
const MOST_LEVELS = 100;
const CHUNK = MIB;
const LINK_CHARACTERS = 4096;

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Returns a name for an open folder. On Linux the name keeps meaning that folder even if the path changes. Elsewhere,
 * returns the folder's path.
 */
const stablePath = (folder: FileHandle, path: string): string =>
  process.platform === "linux" ? `/proc/self/fd/${folder.fd}` : path;

class TreeCopy {
  readonly #rules: CopyRules;
  #bytes = 0;
  #entries = 0;

  constructor(rules: CopyRules) {
    this.#rules = rules;
  }

  /** Copies a folder. `inTree` is its path in the tree. @returns the bytes of all files so far */
  async folder(from: string, to: string, inTree: string, levels = 0): Promise<number> {
    const folder = await open(from, FOLDER);
    try {
      this.#check(await folder.stat(), inTree);
      if (levels > MOST_LEVELS) throw new RefusedTree(`${inTree}: nested too deeply`);
      await mkdir(to, { mode: 0o755 });
      const source = stablePath(folder, from);
      const names = await readdir(source);
      for (const name of inTree === "." ? names.filter((one) => !this.#rules.without.includes(one)) : names)
        await this.#entry(join(source, name), join(to, name), join(inTree, name), levels);
      return this.#bytes;
    } finally {
      await folder.close();
    }
  }

  async #entry(from: string, to: string, inTree: string, levels: number): Promise<void> {
    const stats = await lstat(from);
    if (stats.isDirectory()) await this.folder(from, to, inTree, levels + 1);
    else if (stats.isFile()) await this.#file(from, to, inTree);
    else if (stats.isSymbolicLink()) await this.#link(from, to, inTree, stats);
    else throw new RefusedTree(`${inTree} is not a file, folder or link`);
  }

  #check(stats: Stats, inTree: string): void {
    if (stats.uid !== this.#rules.owner) throw new RefusedTree(`${inTree} belongs to another user`);
    this.#entries++;
    if (this.#entries > MOST_ENTRIES) throw new RefusedTree("it has too many files");
  }

  /** Copies a file. Keeps no rights except read and execute. Copies hard links as separate files. */
  async #file(from: string, to: string, inTree: string): Promise<void> {
    const source = await open(from, FILE);
    try {
      const stats = await source.stat();
      this.#check(stats, inTree);
      if (!stats.isFile()) throw new RefusedTree(`${inTree} is not a file, folder or link`);
      const target = await open(to, "wx", stats.mode & 0o111 ? 0o755 : 0o644);
      try {
        await this.#content(source, target);
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  }

  async #content(source: FileHandle, target: FileHandle): Promise<void> {
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (;;) {
      const { bytesRead } = await source.read(chunk, 0, CHUNK);
      if (bytesRead === 0) return;
      this.#bytes += bytesRead;
      if (this.#bytes > this.#rules.bytes) throw new RefusedTree("it is larger than the tool store");
      await target.writeFile(chunk.subarray(0, bytesRead));
    }
  }

  /** Recreates a link whose text stays in the tree. Never opens its target. */
  async #link(from: string, to: string, inTree: string, stats: Stats): Promise<void> {
    this.#check(stats, inTree);
    const text = await readlink(from);
    const { root } = this.#rules;
    const target = text.startsWith("/") ? text : join(root, inTree, "..", text);
    if (text.length > LINK_CHARACTERS || !`${normalize(target)}/`.startsWith(`${root}/`))
      throw new RefusedTree(`${inTree} is a link to a place outside the tools`);
    await symlink(text, to);
  }
}

/**
 * Copies `from` to the new folder `to`. No process may still run in `from`, though safety from links does not depend on
 * that.
 * @returns the bytes of its files
 * @throws RefusedTree, or an error of the file system; `to` then contains a part
 */
export const copyTree = (from: string, to: string, rules: CopyRules): Promise<number> =>
  new TreeCopy(rules).folder(from, to, ".");
