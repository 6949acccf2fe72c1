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
/** Of macOS's fcntl.h: no part of the path may be a link. */
const O_NOFOLLOW_ANY = 0x2000_0000;
const NO_LINK = IS_MAC ? O_NOFOLLOW_ANY : O_NOFOLLOW;

/**
 * A folder in which paths are gone along part by part, and no part may be a link: also while another process swaps
 * folders for links. On Linux by the handle of each folder, which /proc shows as a path; macOS checks a path as a whole.
 */
export class AnchoredFolder {
  /** Its own path, without links. */
  readonly path: string;
  readonly #opensUp: boolean;
  /** Folders that were made writable, by their paths. */
  readonly #originalModes = new Map<string, { mode: number; inode: bigint }>();

  /** `opensUp`: a folder of this user that he may not write to is made writable at need, until `closeUp`. */
  constructor(path: string, { opensUp = false } = {}) {
    this.path = realpathSync(path);
    this.#opensUp = opensUp;
  }

  /** What is in a folder below it, as bytes: a name may be no text. @throws ELOOP or ENOTDIR where a part is a link */
  names(parts: readonly string[]): Buffer[] {
    return this.#within(parts, (folder) => {
      // The names alone are of no use where nothing that has them may be looked at.
      lstatSync(`${folder}/.`);
      return readdirSync(folder, { encoding: "buffer" });
    });
  }

  /** Of a link, not of what it points to. */
  stat(parts: readonly string[]): BigIntStats {
    return this.#within(parts.slice(0, -1), (folder) => lstatSync(at(folder, parts), { bigint: true }));
  }

  /** As bytes: it may be no text. */
  linkText(parts: readonly string[]): Buffer {
    return this.#within(parts.slice(0, -1), (folder) => readlinkSync(at(folder, parts), { encoding: "buffer" }));
  }

  /** Opens a file to read. Never waits for what is no file. */
  open(parts: readonly string[]): number {
    return this.#within(parts.slice(0, -1), (folder) => openSync(at(folder, parts), O_RDONLY | NO_LINK | O_NONBLOCK));
  }

  /** Makes a file, and the folders above it where there are none. @throws EEXIST when there is anything of this name */
  create(parts: readonly string[]): number {
    return this.#making(parts.slice(0, -1), (folder) =>
      openSync(at(folder, parts), O_WRONLY | O_CREAT | O_EXCL | NO_LINK, 0o600),
    );
  }

  /** Makes a folder and those above it, where there are none. @throws where another file or a link is in the way */
  makeFolder(parts: readonly string[]): void {
    this.#making(parts, () => {});
  }

  /** Makes a link, and the folders above it where there are none. */
  makeLink(parts: readonly string[], text: string): void {
    this.#making(parts.slice(0, -1), (folder) => symlinkSync(text, at(folder, parts)));
  }

  remove(parts: readonly string[]): void {
    this.#within(parts.slice(0, -1), (folder) => unlinkSync(at(folder, parts)));
  }

  /** Where a path leads after all its links, as parts below this folder; null where it leaves it, or leads nowhere. */
  realParts(parts: readonly string[]): string[] | null {
    try {
      const real = realpathSync(join(this.path, ...parts));
      if (real === this.path) return [];
      return real.startsWith(`${this.path}/`) ? real.slice(this.path.length + 1).split("/") : null;
    } catch {
      return null;
    }
  }

  /** Gives the folders that were made writable their modes again. */
  closeUp(): void {
    for (const [path, { mode, inode }] of [...this.#originalModes].reverse()) {
      try {
        this.#walk(path === "" ? [] : path.split("/"), openFolder, (_, handle) => {
          if (fstatSync(handle, { bigint: true }).ino === inode) fchmodSync(handle, mode);
        });
      } catch {
        // It is gone, or no folder any more.
      }
    }
    this.#originalModes.clear();
  }

  /** Calls with a path by which the folder can be named safely, and closes it. */
  #within<T>(parts: readonly string[], use: (folder: string) => T): T {
    return this.#walk(parts, openFolder, use);
  }

  /** The same, and makes what is missing of the folder. */
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

  /** Does something in the open folder of the first `depth` parts, again where it had to be made writable for it. */
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
        // It belongs to somebody else.
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
