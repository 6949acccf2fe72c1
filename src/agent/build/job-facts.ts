import { createHash } from "node:crypto";
import { branchProblem, refOf } from "../../domain/git-ref.ts";
import { isTouched } from "../../domain/patterns.ts";
import { fileWantsPush } from "../../githosts/core/wants.ts";
import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import { parseTriggers } from "../../pipeline/triggers/stored-triggers.ts";
import { DEFAULT_TRIGGERS } from "../../pipeline/triggers/triggers.ts";
import type { Needs } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type Changes, changesSince } from "../checkout/changed-files.ts";
import type { Fetched } from "../checkout/checkout.ts";
import type { CommitWithFile } from "../checkout/commit-file.ts";
import type { Remote } from "../checkout/remote.ts";
import { platformName } from "../cli/capabilities.ts";
import type { Identity } from "../cli/identity.ts";
import { attemptNumber, type JobAnswer } from "../wire/answers.ts";

/* Facts that the agent finds about a job: its commit's changes, whether its steps run, its expressions' inputs. */

const FULL_HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Returns the base of the comparison, which is a hash or a full branch ref; null without a base. */
const comparedWith = ({ base }: JobAnswer): string | null => {
  if (base?.sha !== undefined) return FULL_HASH.test(base.sha) ? base.sha : null;
  if (base?.branch === undefined || branchProblem(base.branch) !== null) return null;
  return refOf(base.branch);
};

/**
 * Returns a function that finds the commit's changes since the job's base. It searches on demand and only once, and
 * returns null if the changes are unknown.
 */
export const changesFinder = (job: JobAnswer, remote: Remote, commit: string): (() => Promise<Changes | null>) => {
  let changes: Promise<Changes | null> | undefined;
  const compared = comparedWith(job);
  return () => {
    changes ??= compared === null ? Promise.resolve(null) : changesSince(remote, compared, commit);
    return changes;
  };
};

/** Returns the base commit if it is known without a fetch. */
export const knownBase = (job: JobAnswer): string | null => (job.base?.sha === undefined ? null : comparedWith(job));

/** Reports whether a file's text may use the changed files or their base commit. */
export const asksForChanges = (text: string): boolean => /changed|base/i.test(text);

/**
 * Returns the file's text in the commit. The text is empty without a file, and null unless it is a file of an allowed
 * size.
 */
const definitionText = ({ file }: CommitWithFile): string | null => {
  if (file === null) return "";
  return file.mode.startsWith("100") && file.size <= LIMITS.definitionCharacters ? file.text : null;
};

const saysDefaults = (text: string): boolean =>
  text === "" || JSON.stringify(parseTriggers(text).value) === JSON.stringify(DEFAULT_TRIGGERS);

/**
 * Returns the pipeline file's text if the service does not know it yet. Returns an empty text if the commit has no such
 * file.
 */
export const newsOfFile = ({ file: known, pipeline }: JobAnswer, fetched: CommitWithFile): string | null => {
  const text = definitionText(fetched);
  if (!known || pipeline.definition !== null || text === null) return null;
  if (known.hash === null) return saysDefaults(text) ? null : text;
  return createHash("sha256").update(text).digest("hex") === known.hash ? null : text;
};

/** Reports whether the file accepts the push for which it was read. */
const wantsThisPush = async (
  { build, file }: JobAnswer,
  fetched: CommitWithFile,
  changes: () => Promise<Changes | null>,
): Promise<boolean> => {
  if (!file?.decides) return false;
  const isWanted = (files: readonly string[] | null) =>
    fileWantsPush(definitionText(fetched) ?? "", build.branch, files);
  return isWanted(null) && isWanted((await changes())?.files ?? null);
};

/** Explains to people why the build's steps do not run; null if they run. */
export const reasonToSkip = async (
  job: JobAnswer,
  fetched: CommitWithFile,
  changes: () => Promise<Changes | null>,
): Promise<string | null> => {
  if (job.purpose === "read-file" && !(await wantsThisPush(job, fetched, changes)))
    return `Skipped: ${job.pipeline.configPath} has no trigger for this push`;
  if (!job.paths) return null;
  const files = (await changes())?.files ?? null;
  if (isTouched(job.paths, files) !== false) return null;
  const firstPaths = job.paths.slice(0, 3).join(", ");
  return `Skipped: no changed file matches ${firstPaths}${job.paths.length > 3 ? " ..." : ""}`;
};

/** The build's base commit and the files changed since then; null if they are unknown. */
export interface ComparedFiles {
  base: string | null;
  files: Changes["files"] | null;
}

/** Returns the facts for the expressions of a job's file. `fixed` are the variables that nothing overrides. */
export const toJobFacts = (
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
    attempt: attemptNumber({ build, job }),
  },
  // The file's expressions also get results that only a newer service knows.
  ...(job ? { matrix: job.matrix, needs: job.needs as Needs } : {}),
  changedFiles: files,
  repository: { id: build.repoId, fullName, cloneUrl },
  agent: { id, name, platform: platformName() },
});
