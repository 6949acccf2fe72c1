import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import type { Needs } from "../../protocol/jobs.ts";
import type { Changes } from "../checkout/changed-files.ts";
import type { Fetched } from "../checkout/checkout.ts";
import { platformName } from "../cli/capabilities.ts";
import type { Identity } from "../cli/identity.ts";
import { attemptOf, type JobAnswer } from "../wire/answers.ts";

/** What a build is compared with: the commit, and the files that changed since; null where that is not known. */
export interface ComparedFiles {
  base: string | null;
  files: Changes["files"] | null;
}

/** What the expressions of a job's file can read. `fixed` are the variables that nothing overrides. */
export const jobFactsOf = (
  { build, env, secretKeys, runKeys, repository: { fullName, cloneUrl }, job }: JobAnswer,
  { commitSha, message }: Fetched,
  { base, files }: ComparedFiles,
  fixed: Record<string, string>,
  { id, name }: Identity,
): JobContext => ({
  env: { CI: "true", ...env, ...fixed },
  secretKeys,
  runKeys,
  build: {
    id: build.id,
    number: build.number,
    branch: build.branch,
    trigger: build.trigger,
    event: build.event,
    ref: build.ref,
    tag: build.tag,
    pull: build.pull,
    base,
    schedule: build.schedule,
    trusted: build.trust !== "untrusted",
    commit: commitSha,
    message,
    attempt: attemptOf({ build, job }),
  },
  // A result that only a newer service knows reaches the file's expressions as it is.
  ...(job ? { matrix: job.matrix, needs: job.needs as Needs } : {}),
  changedFiles: files,
  repository: { id: build.repoId, fullName, cloneUrl },
  agent: { id, name, platform: platformName() },
});
