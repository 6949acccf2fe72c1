import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";

/** The kernel's errors for an ended process or a removed group. */
const GONE = ["ESRCH", "ENOENT", "ENODEV"];

/** Returns the folder of this process's control group (cgroup v2); null without one. See cgroups(7). */
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

/** Returns an empty list for a missing group, because a group can be removed during the read. */
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

/**
 * One build's control group. Its processes and their children cannot leave it, and the kernel kills them all at once.
 */
export class Cgroup {
  readonly path: string;

  /** Opens an existing group, which may have been removed. */
  constructor(path: string) {
    this.path = path;
  }

  /**
   * Creates a group for the build with this folder. Returns null where the kernel has no groups or denies them to this
   * user.
   */
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
   * Moves a process here before it starts others. During the move, the kernel waits 10 ms or more for all processors,
   * so the move runs outside the agent's own thread. Ignores a process that has ended, even if its whole build has.
   */
  async add(pid: number): Promise<void> {
    try {
      await writeFile(join(this.path, "cgroup.procs"), String(pid));
    } catch (error) {
      if (!GONE.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }

  /** Returns the ids of the processes in the group and in its subgroups, which steps can create. */
  members(path = this.path): number[] {
    const own = readLines(join(path, "cgroup.procs")).filter((line) => line !== "");
    return [...own.map(Number), ...foldersIn(path).flatMap((below) => this.members(below))];
  }

  /** Reports whether a process in the group is still alive or dying. `members` no longer lists dying processes. */
  get isPopulated(): boolean {
    return readLines(join(this.path, "cgroup.events")).includes("populated 1");
  }

  /** Kills all processes at once, including those being forked. */
  kill(): void {
    try {
      writeFileSync(join(this.path, "cgroup.kill"), "1");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }

  /** Removes the group if it is empty. */
  remove(path = this.path): void {
    for (const below of foldersIn(path)) this.remove(below);
    try {
      rmdirSync(path);
    } catch {}
  }
}
