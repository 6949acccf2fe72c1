import { basename } from "node:path";
import { refOf } from "../../domain/git-ref.ts";
import type { JobContext } from "../../domain/plan/job-context.ts";
import { git } from "../checkout/git.ts";
import { asksForChanges } from "../errand.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { buildVariables } from "../steps/step-environment.ts";
import { platformName } from "./capabilities.ts";
import { localChanges } from "./local-changes.ts";

export interface LocalFacts {
  /** Variables that nothing overrides. */
  fixed: Record<string, string>;
  facts: JobContext;
}

const LOCAL = "local";

/** The folder needs no repository and no commit: the facts then say "local" or null. */
export const localFacts = async (
  id: string,
  text: string,
  env: Record<string, string>,
  tree: ProcessTree,
): Promise<LocalFacts> => {
  const gitContext = { folder: process.cwd(), protocols: [], tree };
  const [head, commit, { base, files }] = await Promise.all([
    git(gitContext, ["symbolic-ref", "--quiet", "HEAD"]),
    git(gitContext, ["rev-parse", "HEAD"]),
    asksForChanges(text) ? localChanges(gitContext) : { base: null, files: null },
  ]);
  const commitSha = commit.code === 0 ? commit.stdout.toString("latin1").trim() : null;
  const ref = head.code === 0 ? head.stdout.toString("utf8").trim() : "HEAD";
  const branch = commitSha === null ? LOCAL : ref.replace(/^refs\/heads\//, "");
  const fullName = basename(process.cwd());
  const build = { id, number: 0, branch, ref: refOf(branch), event: LOCAL, tag: null, pull: null, schedule: null };
  const names = { build, repository: { fullName }, pipeline: { name: LOCAL } };
  const fixed = buildVariables(names, { commitSha, base }, LOCAL, "");
  const facts: JobContext = {
    env: { CI: "true", ...env, ...fixed },
    secretKeys: [],
    runKeys: Object.keys(env),
    build: { ...build, trusted: true, base, commit: commitSha, message: null, attempt: 1, trigger: LOCAL },
    changedFiles: files,
    repository: { id: "", fullName, cloneUrl: "" },
    agent: { id: "", name: LOCAL, platform: platformName() },
  };
  return { fixed, facts };
};
