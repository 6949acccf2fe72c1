import { isUtf8 } from "node:buffer";
import { type BigIntStats, closeSync } from "node:fs";
import { byWholePaths, type ChosenPaths, choosePaths } from "../../domain/artifact/chosen-paths.ts";
import { pathProblem } from "../../domain/artifact/file-list.ts";
import type { AnchoredFolder } from "./anchored-folder.ts";
import { isBundle, shownPath } from "./file-words.ts";
import { isCachedLink, staysWithin } from "./link-rule.ts";
import type { TarMember } from "./tar.ts";

/** A file as the search found it. `parts` lead to it without links. */
export interface FileSource {
  parts: string[];
  size: number;
  inode: bigint;
  changed: bigint;
}

/** A result of the search: a named file, or one tar with members. */
export type KeptEntry =
  | { kind: "file"; path: string; mode: "644" | "755"; source: FileSource }
  | { kind: "tar"; path: string; members: { member: TarMember; source: FileSource | null }[] };

interface FoundFiles {
  entries: KeptEntry[];
  /** The omitted files, one a line. */
  leftOut: string[];
}

/** The agent cannot keep a file. The message explains the reason to people. */
export class CannotKeep extends Error {}

/** Maximum number of files and folders that one search may visit. */
export const MOST_VISITED = 200_000;
const DEEPEST_BYTES = 4096;
const LEFT_OUT_SHOWN = 20;
/** The path does not exist, or another kind of file replaced it. */
const GONE = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]);
/** A name that no file has. The search uses it to test whether the paths include a folder's complete content. */
const ANY_NAME = "\u0001";

interface Visit {
  /** The names that lead from the root to the visited file. Links count as folders. */
  route: string[];
  /** The same path without links. */
  real: string[];
}

/** Finds files by paths, sorted by name. @throws CannotKeep */
export const findFiles = (root: AnchoredFolder, paths: readonly string[], options: FindOptions): FoundFiles => {
  const chosen = choosePaths(paths);
  return new Search(root, options.isCache ? byWholePaths(chosen) : chosen, options).run();
};

interface FindOptions {
  /** The name of the only tar; null to keep files one by one. */
  asTar: string | null;
  atMost: number;
  /** Omits unreadable or unnameable files, even if the paths include them, because the rest is useful without them. */
  isLenient?: boolean | undefined;
  /** Names are whole paths, and the search keeps links that lead outside. */
  isCache?: boolean | undefined;
}

class Search {
  readonly #root: AnchoredFolder;
  readonly #chosen: ChosenPaths;
  readonly #options: FindOptions;
  readonly #entries: KeptEntry[] = [];
  readonly #members: { member: TarMember; source: FileSource | null }[] = [];
  readonly #leftOut: string[] = [];
  #leftOutCount = 0;
  #visits = 0;

  constructor(root: AnchoredFolder, chosen: ChosenPaths, options: FindOptions) {
    this.#root = root;
    this.#chosen = chosen;
    this.#options = options;
  }

  run(): FoundFiles {
    for (const place of this.#chosen.places) this.#visitPlace(place);
    if (this.#options.asTar !== null && this.#members.length > 0)
      this.#entries.push({ kind: "tar", path: this.#options.asTar, members: this.#members });
    if (this.#leftOutCount > this.#leftOut.length)
      this.#leftOut.push(`and ${this.#leftOutCount - this.#leftOut.length} more`);
    const entries = this.#entries.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    return { entries, leftOut: this.#leftOut };
  }

  /** Visits a place, possibly behind links. A missing place is not an error. */
  #visitPlace(place: string[]): void {
    if (place[0] === ".git") throw new CannotKeep("cannot store files from .git");
    const parent = this.#root.realParts(place.slice(0, -1));
    if (place.length === 0) this.#enter({ route: [], real: [] }, []);
    else if (parent === null) this.#sayIfThere(place);
    else this.#visit({ route: place, real: [...parent, place.at(-1) ?? ""] }, []);
  }

  #sayIfThere(place: string[]): void {
    const link = place
      .map((_, index) => place.slice(0, index))
      .find((parts) => this.#statOrNull(parts)?.isSymbolicLink() && this.#root.realParts(parts) === null);
    if (link) this.#leave(link, "is a link to a place outside the checkout, or a broken link");
    else this.#look(place, () => this.#root.stat(place));
  }

  #statOrNull(parts: readonly string[]): BigIntStats | null {
    try {
      return this.#root.stat(parts);
    } catch {
      return null;
    }
  }

  #visit({ route, real }: Visit, within: bigint[]): void {
    if (++this.#visits > MOST_VISITED)
      throw new CannotKeep(`there are more than ${MOST_VISITED} files and folders: write a narrower path`);
    const stat = this.#look(route, () => this.#root.stat(real));
    if (stat === null) return;
    const name = this.#nameInResult(route);
    if (stat.isDirectory()) this.#folder({ route, real }, stat, within);
    else if (stat.isSymbolicLink()) this.#link({ route, real }, name, within);
    else if (name === null) return;
    else if (stat.isFile()) this.#file(name, { route, real }, stat);
    else this.#leave(route, "is a socket, a pipe or a device");
  }

  #folder({ route, real }: Visit, stat: BigIntStats, within: bigint[]): void {
    const path = route.join("/");
    if (Buffer.byteLength(path) > DEEPEST_BYTES) {
      this.#cannotKeep(route, "is nested too deeply", this.#nameOfContent(route));
      return;
    }
    // A link back into its own folder would make the search endless.
    if (within.includes(stat.ino)) return;
    const name = this.#chosen.nameOf(path);
    const isPlace = this.#chosen.places.some((place) => place.join("/") === path);
    if (this.#options.asTar !== null && name !== null && (this.#options.isCache || !isPlace))
      this.#add(toTarMember("folder", name, stat), null);
    const inner = [...within, stat.ino];
    const isWhole = name !== null || this.#nameOfContent(route) !== null;
    if (this.#options.asTar === null && isWhole && isBundle(route.at(-1) ?? "")) this.#bundle({ route, real }, name);
    else this.#enter({ route, real }, inner);
  }

  #enter({ route, real }: Visit, within: bigint[]): void {
    for (const name of this.#namesIn(real, route))
      this.#visit({ route: [...route, name], real: [...real, name] }, within);
  }

  #namesIn(real: string[], route: string[]): string[] {
    const names =
      this.#look(
        route,
        () => this.#root.names(real),
        () => this.#nameOfContent(route),
      ) ?? [];
    for (const name of names)
      if (!isUtf8(name)) this.#cannotKeep([...route, name.toString("latin1")], "has a name that is not UTF-8");
    const isOfGit = (name: string) => real.length === 0 && name === ".git";
    return names
      .filter((name) => isUtf8(name))
      .map((name) => name.toString())
      .filter((name) => !isOfGit(name))
      .sort();
  }

  /** Returns the result of looking at a file. Returns null where the file is gone or was omitted. */
  #look<T>(route: string[], look: () => T, keptName = () => this.#nameInResult(route)): T | null {
    try {
      return look();
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!GONE.has(code)) this.#cannotKeep(route, `cannot be read (${code})`, keptName());
      return null;
    }
  }

  #link({ route, real }: Visit, name: string | null, within: bigint[]): void {
    if (this.#options.asTar !== null) {
      if (name !== null) this.#linkInTar({ route, real }, name);
      return;
    }
    const target = this.#root.realParts(real);
    const mayHold = name ?? this.#nameOfContent(route);
    if (target !== null && target[0] !== ".git" && target.length > 0) this.#visit({ route, real: target }, within);
    else if (mayHold !== null) this.#leave(route, "is a link to a place outside the checkout, or a broken link");
  }

  #linkInTar({ route, real }: Visit, name: string): void {
    const bytes = this.#look(route, () => this.#root.linkText(real));
    if (bytes === null) return;
    const text = bytes.toString();
    const { isCache } = this.#options;
    if (!isUtf8(bytes)) this.#leave(route, "is a link to a name that is not UTF-8");
    else if (isCache ? isCachedLink(this.#chosen, name, text) : staysWithin(name.split("/"), text))
      this.#add({ ...linkMember(name), link: text }, null);
    else this.#leave(route, `is a link to a place outside the ${isCache ? "cache" : "artifact"}`);
  }

  /** Packs the folder into one tar, whose members begin with the folder's name. */
  #bundle({ route, real }: Visit, name: string | null): void {
    const own = route.at(-1) ?? "";
    const stat = this.#look(route, () => this.#root.stat(real));
    if (stat === null) return;
    const all = { places: [], nameOf: (path: string) => path, isNamed: () => false };
    const inner = new Search(this.#root, all, { ...this.#options, asTar: own, atMost: MOST_VISITED });
    inner.#members.push({ member: toTarMember("folder", own, stat), source: null });
    inner.#enter({ route: [own], real }, []);
    for (const line of inner.#leftOut) this.#leave(route, `: ${line}`);
    this.#push({ kind: "tar", path: `${(name ?? this.#nameOfContent(route)) || own}.tar`, members: inner.#members });
  }

  /** Returns a folder's name if the paths include its complete content, and otherwise null. */
  #nameOfContent(route: string[]): string | null {
    const name = this.#chosen.nameOf(`${route.join("/")}/${ANY_NAME}`);
    return name === null ? null : name.slice(0, -ANY_NAME.length).replace(/\/$/, "");
  }

  #file(name: string, { route, real }: Visit, stat: BigIntStats): void {
    if (this.#options.isLenient) {
      const handle = this.#look(route, () => this.#root.open(real));
      if (handle === null) return;
      closeSync(handle);
    }
    const source = { parts: real, size: Number(stat.size), inode: stat.ino, changed: stat.mtimeNs };
    if (this.#options.asTar !== null) this.#add(toTarMember("file", name, stat), source);
    else this.#push({ kind: "file", path: name, mode: stat.mode & 0o111n ? "755" : "644", source });
  }

  #add(member: TarMember, source: FileSource | null): void {
    if (this.#hasGoodName(member)) this.#members.push({ member, source });
  }

  #push(entry: KeptEntry): void {
    if (!this.#hasGoodName(entry)) return;
    this.#entries.push(entry);
    const { atMost } = this.#options;
    if (this.#entries.length > atMost)
      throw new CannotKeep(`there are more than ${atMost} files: write a narrower path, or store them with as: tar`);
  }

  #hasGoodName({ path }: { path: string }): boolean {
    const problem = pathProblem(path);
    if (problem !== null) this.#lack(path.split("/"), problem);
    return problem === null;
  }

  #nameInResult(route: string[]): string | null {
    return this.#chosen.nameOf(route.join("/"));
  }

  /**
   * Fails only for a file that has a name in the result, or that the paths name. The search only passed other files on
   * its way.
   */
  #cannotKeep(parts: string[], why: string, name = this.#nameInResult(parts)): void {
    if (name !== null || this.#chosen.isNamed(parts.join("/"))) this.#lack(parts, why);
    else this.#leave(parts, why);
  }

  #lack(parts: string[], why: string): void {
    if (!this.#options.isLenient) throw new CannotKeep(`${shortPath(parts)} ${why}`);
    this.#leave(parts, why);
  }

  #leave(parts: string[], why: string): void {
    this.#leftOutCount++;
    if (this.#leftOut.length < LEFT_OUT_SHOWN) this.#leftOut.push(`${shortPath(parts)} ${why}`);
  }
}

const shortPath = (parts: string[]): string => shownPath(parts.join("/")).slice(0, 300);

const toTarMember = (kind: "file" | "folder", path: string, stat: BigIntStats): TarMember => ({
  kind,
  path,
  mode: Number(stat.mode & 0o777n),
  size: kind === "file" ? Number(stat.size) : 0,
  mtime: Math.floor(Number(stat.mtimeMs) / 1000),
  link: "",
});

const linkMember = (path: string): TarMember => ({ kind: "link", path, mode: 0o777, size: 0, mtime: 0, link: "" });
