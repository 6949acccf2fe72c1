import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "../../protocol/units.ts";
import { git } from "./git.ts";
import { addOrigin, fetchRefspecs, initRepository, type Remote } from "./remote.ts";

/** Commits of history to fetch until both sides meet. */
const DEPTHS = [50, 1000, 10_000];

/** A longer list of paths may be incomplete, so the agent does not use it. */
const MOST_BYTES = 3 * MIB;

const BASE = "refs/compare/base";
const HEAD = "refs/compare/head";

/** The changes in a commit since `base`, the merge base with the compared commit. */
export interface Changes {
  base: string;
  /** Paths from the repository's root. A renamed file has both names. */
  files: string[];
}

/**
 * Compares a commit with another one, given by its hash or full ref name. Returns the paths from `git diff
 * --merge-base`; null when the host no longer serves one of the commits, or the commits have no common history.
 */
export const changesSince = async (remote: Remote, compared: string, commit: string): Promise<Changes | null> => {
  // Fetch into another folder: after a filtered fetch, the build's own repository would keep fetching missing objects.
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

/**
 * Fetches history until both sides meet. Omits file contents where the host supports that, because only names are
 * compared.
 */
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
