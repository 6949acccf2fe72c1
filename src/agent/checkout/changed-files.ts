import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "../../protocol/units.ts";
import { git } from "./git.ts";
import { addOrigin, fetchRefspecs, initRepository, type Remote } from "./remote.ts";

/** Commits of history to fetch until both sides meet. */
const DEPTHS = [50, 1000, 10_000];

/** A longer list of paths may have been cut, so it is not used. */
const MOST_BYTES = 3 * MIB;

const BASE = "refs/compare/base";
const HEAD = "refs/compare/head";

/** What a commit changed since `base`, where its history and that of what it is compared with meet. */
export interface Changes {
  base: string;
  /** Paths from the repository's root. One that was renamed is there with both names. */
  files: string[];
}

/**
 * Compares a commit with another one, by its hash or by the whole name of its ref: the paths between them that
 * `git diff --merge-base` names. Null when the host gives one of them no more, or they have no history together.
 */
export const changesSince = async (remote: Remote, compared: string, commit: string): Promise<Changes | null> => {
  // The build's own repository would go on fetching what a filter left out.
  const folder = mkdtempSync(join(remote.tempFolder, "compare-"));
  const apart: Remote = { ...remote, gitContext: { ...remote.gitContext, folder } };
  try {
    await initRepository(folder, commit.length === 64 ? "sha256" : "sha1");
    addOrigin(apart);
    const base = await fetchBase(apart, [`+${compared}:${BASE}`, `+${commit}:${HEAD}`]);
    return base === null ? null : await changesIn(apart, base);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Without files where the host can leave them out: only their names are compared. */
const fetchBase = async (remote: Remote, refspecs: string[]): Promise<string | null> => {
  const local = { ...remote.gitContext, protocols: [] };
  let filter = ["--filter=blob:none"];
  for (const depth of DEPTHS) {
    const range = [`--depth=${depth}`, "--no-tags"];
    let output = await fetchRefspecs(remote, [...filter, ...range], refspecs);
    if (output.code !== 0) {
      filter = [];
      output = await fetchRefspecs(remote, range, refspecs);
    }
    if (output.code !== 0) return null;
    const base = await git(local, ["merge-base", BASE, HEAD]);
    if (base.code === 0) return base.stdout.toString("latin1").trim();
  }
  return null;
};

const changesIn = async ({ gitContext }: Remote, base: string): Promise<Changes | null> => {
  const options = ["-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none"];
  const output = await git({ ...gitContext, protocols: [] }, ["diff-tree", ...options, base, HEAD]);
  if (output.code !== 0 || output.stdout.length > MOST_BYTES) return null;
  return { base, files: output.stdout.toString("utf8").split("\0").slice(0, -1) };
};
