import { inheritedBySteps } from "../../domain/env-names.ts";
import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import type { BuildFolder } from "../build/build-folder.ts";
import { parseJson } from "../parse-json.ts";
import type { StepUser } from "../process/step-user.ts";
import type { JobAnswer, OneOfSeveral } from "../wire/answers.ts";

/**
 * Returns the agent's own variables for other programs. Omits git and Millrace variables, so the result has no secrets.
 */
const ownVariables = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && inheritedBySteps(name) ? [[name, value]] : [],
    ),
  );

/**
 * Returns the variables that steps inherit from the agent: PATH, HOME, ANDROID_HOME and so on. Steps with their own
 * user have a HOME and TMPDIR that only this build uses.
 */
export const inheritedEnvironment = (
  user: StepUser | null,
  { home, tmp }: Pick<BuildFolder, "home" | "tmp">,
): Record<string, string> => {
  const own = ownVariables();
  return user ? { ...own, HOME: home, TMPDIR: tmp, USER: user.name, LOGNAME: user.name } : own;
};

interface BuildNames {
  build: Pick<JobContext["build"], "id" | "number" | "branch" | "event" | "ref" | "tag" | "pull" | "schedule">;
  repository: { fullName: string };
  pipeline: { name: string };
}

/** Cleans a name from outside for a log or variable, to one line without half characters. */
export const inOneLine = (text: string): string => text.replaceAll(/[\x00-\x1f\x7f]/g, " ").toWellFormed();

/** Returns a build's MILLRACE_* variables for all its steps. `base` is the base commit for changes. */
export const buildVariables = (
  { build, repository, pipeline }: BuildNames,
  { commitSha, base }: { commitSha: string | null; base: string | null },
  agentName: string,
  url: string,
): Record<string, string> => ({
  MILLRACE_BUILD_ID: build.id,
  MILLRACE_BUILD_NUMBER: String(build.number),
  MILLRACE_BRANCH: build.branch,
  MILLRACE_COMMIT: commitSha ?? "",
  MILLRACE_EVENT: inOneLine(build.event ?? ""),
  MILLRACE_REF: inOneLine(build.ref ?? ""),
  MILLRACE_TAG: inOneLine(build.tag ?? ""),
  MILLRACE_PULL: build.pull ? String(build.pull.number) : "",
  MILLRACE_PULL_BASE: inOneLine(build.pull?.base ?? ""),
  MILLRACE_BASE: base ?? "",
  MILLRACE_SCHEDULE: inOneLine(build.schedule ?? ""),
  MILLRACE_REPOSITORY: repository.fullName,
  MILLRACE_PIPELINE: pipeline.name,
  MILLRACE_AGENT_NAME: agentName,
  MILLRACE_URL: url,
});

/** Returns the MILLRACE_* variables that only planned jobs have. */
export const jobVariables = ({ id, key, definition, name, matrix }: OneOfSeveral): Record<string, string> => ({
  MILLRACE_JOB: inOneLine(definition),
  MILLRACE_JOB_ID: id,
  MILLRACE_JOB_KEY: inOneLine(key),
  MILLRACE_JOB_NAME: inOneLine(name),
  MILLRACE_MATRIX: matrix === null ? "" : JSON.stringify(matrix),
});

const NAME = /^MILLRACE_[A-Z_]+$/;

/** Returns the job's names for hooks as MILLRACE_* variables. The result contains no variable of the build. */
export const hookVariables = (job: JobAnswer, { name, url }: { name: string; url: string }): Record<string, string> => {
  const ofBuild = buildVariables(job, { commitSha: job.build.commitSha, base: null }, name, url);
  const variables = { ...ofBuild, ...(job.job ? jobVariables(job.job) : {}) };
  return Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, inOneLine(value)]));
};

/** Returns the valid variables in a note that an earlier agent left. */
export const variablesIn = (note: string): Record<string, string> => {
  const read = parseJson(note);
  if (typeof read !== "object" || read === null) return {};
  return Object.fromEntries(
    Object.entries(read).flatMap(([key, value]) =>
      NAME.test(key) && typeof value === "string" ? [[key, inOneLine(value)]] : [],
    ),
  );
};

/** Returns a hook's complete environment: the agent's own without its secrets, and the job's names. */
export const hookEnvironment = (variables: Record<string, string>): Record<string, string> => ({
  ...ownVariables(),
  ...variables,
});
