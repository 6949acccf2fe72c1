import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

/** Where this process is in the hierarchy of cgroup v2, as a folder; null where there is none. */
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

/** Nothing for what is gone: a group can end while it is looked at. */
const emptyIfGone = (read: () => string[]): string[] => {
  try {
    return read();
  } catch {
    return [];
  }
};

const linesOf = (file: string): string[] => emptyIfGone(() => readFileSync(file, "latin1").split("\n"));

const foldersIn = (path: string): string[] =>
  emptyIfGone(() =>
    readdirSync(path, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : [])),
  ).map((name) => join(path, name));

/** A control group of one build: what is in it, and all that this starts, cannot leave it and ends at one word. */
export class Cgroup {
  readonly path: string;

  /** Of one that was made before, whether it is still there or not. */
  constructor(path: string) {
    this.path = path;
  }

  /** Makes one for the build whose folder this is; null where the kernel has none or this user may not make one. */
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

  /** Takes in a process that has not started another yet. One that has just ended needs no place. */
  add(pid: number): void {
    try {
      writeFileSync(join(this.path, "cgroup.procs"), String(pid));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  /** Process ids in it, and in groups that a step has made below it. */
  members(path = this.path): number[] {
    const own = linesOf(join(path, "cgroup.procs")).filter((line) => line !== "");
    return [...own.map(Number), ...foldersIn(path).flatMap((below) => this.members(below))];
  }

  /** Whether something is in it that is not dead yet; what is on its way there is no member any more. */
  get isPopulated(): boolean {
    return linesOf(join(this.path, "cgroup.events")).includes("populated 1");
  }

  /** Ends all of it at once, what is being forked too. */
  kill(): void {
    try {
      writeFileSync(join(this.path, "cgroup.kill"), "1");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }

  /** Once it is empty; one that is not stays. */
  remove(path = this.path): void {
    for (const below of foldersIn(path)) this.remove(below);
    try {
      rmdirSync(path);
    } catch {}
  }
}
