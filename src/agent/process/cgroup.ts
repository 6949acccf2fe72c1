import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";

/** What the kernel says of a process that has ended, and of a group that was removed. */
const GONE = ["ESRCH", "ENOENT", "ENODEV"];

/** Folder of this process's control group (cgroup v2); null where there is none. See cgroups(7). */
const ownFolder = (): string | null => {
  try {
    const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
    const [, , , root = "/", mount] = mounts.find((line) => line.includes(" - cgroup2 "))?.split(" ") ?? [];
    const [, path] = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8")) ?? [];
    if (mount === undefined || path === undefined) return null;
    const below = relative(root, path);
    return below.startsWith("..") ? null : join(mount, below);
  } catch {
    return null;
  }
};

/** An empty list for what is gone: a group can be removed while it is read. */
const emptyIfGone = (read: () => string[]): string[] => {
  try {
    return read();
  } catch {
    return [];
  }
};

const readLines = (file: string): string[] => emptyIfGone(() => readFileSync(file, "latin1").split("\n"));

const foldersIn = (path: string): string[] =>
  emptyIfGone(() =>
    readdirSync(path, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : [])),
  ).map((name) => join(path, name));

/** The control group of one build. Its processes and their children cannot leave it, and are killed all at once. */
export class Cgroup {
  readonly path: string;

  /** An existing group, which may be gone by now. */
  constructor(path: string) {
    this.path = path;
  }

  /** Makes a group for the build of this folder; null where the kernel has none or this user may not make one. */
  static make(folder: string): Cgroup | null {
    const own = ownFolder();
    if (own === null) return null;
    const cgroup = new Cgroup(join(own, `millrace-${basename(folder)}`));
    try {
      accessSync(join(own, "cgroup.procs"), constants.W_OK);
      mkdirSync(cgroup.path);
      accessSync(join(cgroup.path, "cgroup.kill"));
      if (readFileSync(join(cgroup.path, "cgroup.type"), "latin1") === "domain\n") return cgroup;
    } catch {}
    cgroup.remove();
    return null;
  }

  /**
   * Moves a process here before it starts others. The kernel waits for all processors then, 10 ms and more, so the
   * agent's own thread does not. Ignores one that has ended, also with its build.
   */
  async add(pid: number): Promise<void> {
    try {
      await writeFile(join(this.path, "cgroup.procs"), String(pid));
    } catch (error) {
      if (!GONE.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }

  /** Ids of the processes in it and in groups that a step has made below it. */
  members(path = this.path): number[] {
    const own = readLines(join(path, "cgroup.procs")).filter((line) => line !== "");
    return [...own.map(Number), ...foldersIn(path).flatMap((below) => this.members(below))];
  }

  /** Whether a process in it is not dead yet. A dying process is not listed by `members` any more. */
  get isPopulated(): boolean {
    return readLines(join(this.path, "cgroup.events")).includes("populated 1");
  }

  /** Kills all processes at once, also those that are being forked. */
  kill(): void {
    try {
      writeFileSync(join(this.path, "cgroup.kill"), "1");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }

  /** Removes the group when it is empty, else leaves it. */
  remove(path = this.path): void {
    for (const below of foldersIn(path)) this.remove(below);
    try {
      rmdirSync(path);
    } catch {}
  }
}
