import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_CREAT, O_EXCL, O_WRONLY } = constants;
const IS_MAC = process.platform === "darwin";
/** A flag from macOS's fcntl.h that rejects a path with a link in any part. */
const O_NOFOLLOW_ANY = 0x2000_0000;
const NO_LINK = IS_MAC ? O_NOFOLLOW_ANY : O_NOFOLLOW;

/**
 * A folder that resolves paths part by part. No part may be a link, even while another process swaps folders for links.
 * Linux uses each folder's handle, which /proc shows as a path. macOS checks the whole path.
 */
export class AnchoredFolder {
  /** The folder's own path, without links. */
  readonly path: string;
  readonly #opensUp: boolean;
  /** Folders that were temporarily made writable, by their paths. */
  readonly #originalModes = new Map<string, { mode: number; inode: bigint }>();

  /** `opensUp` makes this user's unwritable folders writable on demand, until `closeUp`. */
  constructor(path: string, { opensUp = false } = {}) {
    this.path = realpathSync(path);
    this.#opensUp = opensUp;
  }

  /**
   * Lists a subfolder's names as bytes, because a name may be invalid text. @throws ELOOP or ENOTDIR where a part is a
   * link
   */
  names(parts: readonly string[]): Buffer[] {
    return this.#within(parts, (folder) => {
      // This fails early without access to the entries. The names alone would be useless.
      lstatSync(`${folder}/.`);
      return readdirSync(folder, { encoding: "buffer" });
    });
  }

  /** Returns the stat of the link itself, not of its target. */
  stat(parts: readonly string[]): BigIntStats {
    return this.#within(parts.slice(0, -1), (folder) => lstatSync(at(folder, parts), { bigint: true }));
  }

  /** Returns bytes, because the text may be invalid. */
  linkText(parts: readonly string[]): Buffer {
    return this.#within(parts.slice(0, -1), (folder) => readlinkSync(at(folder, parts), { encoding: "buffer" }));
  }

  /** Opens a file to read. Never waits for a pipe or device. */
  open(parts: readonly string[]): number {
    return this.#within(parts.slice(0, -1), (folder) => openSync(at(folder, parts), O_RDONLY | NO_LINK | O_NONBLOCK));
  }

  /** Creates a file and its missing parent folders. @throws EEXIST when the name exists */
  create(parts: readonly string[]): number {
    return this.#making(parts.slice(0, -1), (folder) =>
      openSync(at(folder, parts), O_WRONLY | O_CREAT | O_EXCL | NO_LINK, 0o600),
    );
  }

  /** Creates a folder and its missing parents. @throws where another file or a link is in the way */
  makeFolder(parts: readonly string[]): void {
    this.#making(parts, () => {});
  }

  /** Creates a link and its missing parent folders. */
  makeLink(parts: readonly string[], text: string): void {
    this.#making(parts.slice(0, -1), (folder) => symlinkSync(text, at(folder, parts)));
  }

  remove(parts: readonly string[]): void {
    this.#within(parts.slice(0, -1), (folder) => unlinkSync(at(folder, parts)));
  }

  /**
   * Resolves all links in a path to parts below this folder. Returns null where the path leaves the folder or has no
   * target.
   */
  realParts(parts: readonly string[]): string[] | null {
    try {
      const real = realpathSync(join(this.path, ...parts));
      if (real === this.path) return [];
      return real.startsWith(`${this.path}/`) ? real.slice(this.path.length + 1).split("/") : null;
    } catch {
      return null;
    }
  }

  /** Restores the modes of the folders that were made writable. */
  closeUp(): void {
    for (const [path, { mode, inode }] of [...this.#originalModes].reverse()) {
      try {
        this.#walk(path === "" ? [] : path.split("/"), openFolder, (_, handle) => {
          if (fstatSync(handle, { bigint: true }).ino === inode) fchmodSync(handle, mode);
        });
      } catch {
        // Another process removed or replaced the folder.
      }
    }
    this.#originalModes.clear();
  }

  /** Calls `use` with a path that safely names the folder, then closes the folder. */
  #within<T>(parts: readonly string[], use: (folder: string) => T): T {
    return this.#walk(parts, openFolder, use);
  }

  /** Calls `use` like `#within`, but creates the folder's missing parts. */
  #making<T>(parts: readonly string[], use: (folder: string) => T): T {
    return this.#walk(parts, openOrMake, use);
  }

  #walk<T>(parts: readonly string[], open: (path: string) => number, use: (folder: string, handle: number) => T): T {
    let handle = openFolder(this.path);
    try {
      let folder = this.path;
      for (const [index, part] of parts.entries()) {
        folder = IS_MAC ? join(folder, part) : `/proc/self/fd/${handle}/${part}`;
        const next = this.#openingUp(handle, parts, index, () => open(folder));
        closeSync(handle);
        handle = next;
      }
      return this.#openingUp(handle, parts, parts.length, () =>
        use(IS_MAC ? folder : `/proc/self/fd/${handle}`, handle),
      );
    } finally {
      closeSync(handle);
    }
  }

  /** Acts in the open folder at `depth` parts. If necessary, makes the folder writable and retries. */
  #openingUp<T>(handle: number, parts: readonly string[], depth: number, act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (!this.#opensUp || errorCode(error) !== "EACCES") throw error;
      const { mode, ino: inode } = fstatSync(handle, { bigint: true });
      const bits = Number(mode & 0o7777n);
      if ((bits & 0o700) === 0o700) throw error;
      try {
        fchmodSync(handle, bits | 0o700);
      } catch {
        // The folder belongs to another user.
        throw error;
      }
      this.#originalModes.set(parts.slice(0, depth).join("/"), { mode: bits, inode });
      return act();
    }
  }
}

const at = (folder: string, parts: readonly string[]): string => `${folder}/${parts.at(-1) ?? "."}`;

const openFolder = (path: string): number => openSync(path, O_RDONLY | O_DIRECTORY | NO_LINK);

const openOrMake = (path: string): number => {
  try {
    return openFolder(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
  try {
    mkdirSync(path, 0o755);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
  return openFolder(path);
};

const errorCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
