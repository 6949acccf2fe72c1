import { closeSync, fchmodSync, futimesSync, writeSync } from "node:fs";
import { byWholePaths, type ChosenPaths, choosePaths } from "../../domain/artifact/chosen-paths.ts";
import { pathProblem, sameName } from "../../domain/artifact/file-list.ts";
import type { AnchoredFolder } from "./anchored-folder.ts";
import { shownPath } from "./file-words.ts";
import { isCachedLink, staysWithin } from "./link-rule.ts";
import { type TarListener, type TarMember, TarReader } from "./tar.ts";

/** The agent cannot write a file. The message explains the reason to people. */
export class CannotWrite extends Error {}

/** An arriving file. The helper writes it to its path, or unpacks it into the folder at that path. */
export interface ArrivingFile {
  path: string;
  size: number;
  mode: "644" | "755";
  isUnpacked: boolean;
}

/** Accepts one file's bytes. */
interface Sink {
  push(bytes: Buffer): void;
  close(): void;
}

/** Creates new files in a folder below an anchored one. `replaces` says whether to replace existing files. */
export class Receiver {
  readonly #root: AnchoredFolder;
  readonly #folder: string[];
  readonly #replaces: boolean;
  /** A cache's paths. */
  readonly #chosen: ChosenPaths | null;
  #sink: Sink | null = null;
  #bytesLeft = 0;

  constructor(root: AnchoredFolder, folder: string[], replaces: boolean, cachePaths?: string[]) {
    this.#chosen = cachePaths ? byWholePaths(choosePaths(cachePaths)) : null;
    this.#root = root;
    this.#folder = folder;
    this.#replaces = replaces;
    this.#try(folder, () => root.makeFolder(folder));
  }

  begin({ path, size, mode, isUnpacked }: ArrivingFile): void {
    if (this.#sink) throw new CannotWrite("a file started before the previous file ended");
    const parts = path.split("/");
    if (pathProblem(path) !== null) throw new CannotWrite(`${shownPath(path)} ${pathProblem(path)}`);
    this.#bytesLeft = size;
    this.#sink = isUnpacked
      ? new Unpacking((member) => this.#member(parts.slice(0, -1), member))
      : this.#create(parts, mode === "755" ? 0o755 : 0o644);
    if (size === 0) this.#end();
  }

  push(bytes: Buffer): void {
    if (this.#sink === null || bytes.length > this.#bytesLeft)
      throw new CannotWrite("more bytes arrived than announced");
    this.#try(this.#folder, () => this.#sink?.push(bytes));
    this.#bytesLeft -= bytes.length;
    if (this.#bytesLeft === 0) this.#end();
  }

  /** Ends the last file. @throws CannotWrite when a file is incomplete */
  close(): void {
    if (this.#sink) throw new CannotWrite("fewer bytes arrived than announced");
  }

  #end(): void {
    const sink = this.#sink;
    this.#sink = null;
    this.#try(this.#folder, () => sink?.close());
  }

  /** `time` is the file's own modification time in seconds. */
  #create(parts: string[], mode: number, time: number | null = null): Sink {
    const path = this.#at(parts);
    const handle = this.#try(path, () => {
      if (this.#replaces && this.#isFile(path)) this.#root.remove(path);
      return this.#root.create(path);
    });
    return {
      push: (bytes) => writeAll(handle, bytes),
      close: () => {
        fchmodSync(handle, mode);
        if (time !== null) futimesSync(handle, time, time);
        closeSync(handle);
      },
    };
  }

  /** Rejects .git, because git runs files there or reads them as settings. */
  #at(parts: string[]): string[] {
    const path = [...this.#folder, ...parts];
    if (sameName(path[0] ?? "") === ".git") throw new CannotWrite("cannot write into .git");
    return path;
  }

  #isFile(path: string[]): boolean {
    try {
      return !this.#root.stat(path).isDirectory();
    } catch {
      return false;
    }
  }

  /** Creates a tar member below `folder`. @returns a sink for the member's content, or an action for the end */
  #member(folder: string[], { kind, path, mode, link, mtime }: TarMember): Sink | (() => void) {
    const own = path.split("/");
    if (kind === "folder" && path === "") return () => {};
    if (pathProblem(path) !== null) throw new CannotWrite(`${shownPath(path)} in a tar ${pathProblem(path)}`);
    const parts = [...folder, ...own];
    if (this.#chosen && this.#chosen.nameOf(path) === null)
      throw new CannotWrite(`${shownPath(path)} in a tar is not part of the cache`);
    if (kind === "file") return this.#create(parts, mode, this.#chosen ? mtime : null);
    if (kind === "folder") {
      this.#try(parts, () => this.#root.makeFolder(this.#at(parts)));
      return () => {};
    }
    if (!(this.#chosen ? isCachedLink(this.#chosen, path, link) : staysWithin(own, link)))
      throw new CannotWrite(`${shownPath(path)} in a tar is a link to a place outside its folder`);
    return () =>
      this.#try(parts, () => {
        const place = this.#at(parts);
        if (this.#replaces && this.#isFile(place)) this.#root.remove(place);
        this.#root.makeLink(place, link);
      });
  }

  #try<T>(parts: string[], act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (error instanceof CannotWrite) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new CannotWrite(`${shownPath(parts.join("/"))}: ${WORDS[code ?? ""] ?? code ?? message}`);
    }
  }
}

const WORDS: Record<string, string> = {
  EEXIST: "a file or folder with this name already exists",
  ELOOP: "its path leads through a link",
  ENOTDIR: "its path leads through a file or a link",
  ENOSPC: "the disk is full",
};

const writeAll = (handle: number, bytes: Buffer): void => {
  for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
};

/** Unpacks a tar. Creates links last, so that no file can be written through one. */
class Unpacking implements Sink, TarListener {
  readonly #make: (member: TarMember) => Sink | (() => void);
  readonly #reader: TarReader;
  readonly #last: (() => void)[] = [];
  #file: Sink | null = null;

  constructor(make: (member: TarMember) => Sink | (() => void)) {
    this.#make = make;
    this.#reader = new TarReader(this);
  }

  begin(member: TarMember): void {
    const sink = this.#make(member);
    if (typeof sink === "function") this.#last.push(sink);
    else this.#file = sink;
  }

  content(bytes: Buffer): void {
    this.#file?.push(bytes);
  }

  end(): void {
    this.#file?.close();
    this.#file = null;
  }

  push(bytes: Buffer): void {
    this.#reader.push(bytes);
  }

  close(): void {
    this.#reader.close();
    for (const act of this.#last) act();
  }
}
