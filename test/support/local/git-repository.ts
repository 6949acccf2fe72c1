import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client } from "../../../src/local/client.ts";
import type { Repository } from "../../../src/protocol/repository.ts";

export interface GitRepository {
  cloneUrl: string;
  work: string;
  git(...args: string[]): string;
}

const IDENTITY = {
  GIT_AUTHOR_NAME: "T",
  GIT_AUTHOR_EMAIL: "t@t.invalid",
  GIT_COMMITTER_NAME: "T",
  GIT_COMMITTER_EMAIL: "t@t.invalid",
};

/** Creates a git repository below `folder`, with these files in its first commit on main. */
export const makeRepository = (folder: string, files: Record<string, string>): GitRepository => {
  const work = join(mkdtempSync(join(folder, "repo-")), "app.git");
  mkdirSync(work);
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: work, encoding: "utf8", env: { ...process.env, ...IDENTITY } }).trim();
  git("init", "--quiet", "--initial-branch=main");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), text);
  }
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message", "first");
  return { cloneUrl: `file://${work}`, work, git };
};

let hostIds = 0;

/** Connects the git repository to the service. */
export const connectRepository = (client: Client, { cloneUrl }: GitRepository): Promise<Repository> =>
  client.call("POST", "/repository", { gitHostRepoId: ++hostIds, fullName: `acme/app-${hostIds}`, cloneUrl });
