import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { testFolder } from "./folder.ts";

const IDENTITY = {
  GIT_AUTHOR_NAME: "A. Miller",
  GIT_AUTHOR_EMAIL: "a@mill.invalid",
  GIT_COMMITTER_NAME: "A. Miller",
  GIT_COMMITTER_EMAIL: "a@mill.invalid",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
};

export interface TestRepository {
  /** The working copy. Tests may change it. */
  folder: string;
  cloneUrl: string;
  git(...args: string[]): string;
  /** Writes the files and commits them. @returns the commit */
  commit(files: Record<string, string>, message?: string): string;
}

/** Creates a real git repository with one commit of `files` on branch main. A file: address can clone it. */
export const testRepository = (files: Record<string, string>, hash = "sha1"): TestRepository => {
  const folder = join(testFolder(), "mill.git");
  mkdirSync(folder);
  const git = (...args: string[]): string =>
    execFileSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...IDENTITY },
    }).trim();
  git("init", "--quiet", "--initial-branch=main", `--object-format=${hash}`);
  const commit = (changed: Record<string, string>, message = "change"): string => {
    for (const [path, text] of Object.entries(changed)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    git("add", "--all");
    git("commit", "--quiet", "--allow-empty", "--message", message);
    return git("rev-parse", "HEAD");
  };
  commit(files, "first");
  return { folder, cloneUrl: `file://${folder}`, git, commit };
};

/** Creates a new head: a commit of the same files, or of `tree`, with a date that git itself may refuse to write. */
export const commitDated = ({ folder, git }: TestRepository, date: string, tree = "HEAD^{tree}"): string => {
  const object = join(folder, ".git/dated");
  const by = (who: string): string => `${who} A. Miller <a@mill.invalid> ${date}\n`;
  const parents = `tree ${git("rev-parse", tree)}\nparent ${git("rev-parse", "HEAD")}\n`;
  writeFileSync(object, `${parents}${by("author")}${by("committer")}\ndated\n`);
  const commit = git("hash-object", "-t", "commit", "-w", "--literally", object);
  git("update-ref", "HEAD", commit);
  return commit;
};
