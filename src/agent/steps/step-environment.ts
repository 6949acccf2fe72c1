import { inheritedBySteps } from "../../domain/env-names.ts";
import type { BuildFolder } from "../build-folder.ts";
import type { StepUser } from "../process/step-user.ts";

/**
 * The variables that steps inherit from the agent: PATH, HOME, ANDROID_HOME and so on, but none of git or Millrace.
 * Steps with their own user have a HOME and TMPDIR that only this build uses.
 */
export const inheritedEnvironment = (
  user: StepUser | null,
  { home, tmp }: Pick<BuildFolder, "home" | "tmp">,
): Record<string, string> => {
  const own = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && inheritedBySteps(name) ? [[name, value]] : [],
    ),
  );
  return user ? { ...own, HOME: home, TMPDIR: tmp, USER: user.name, LOGNAME: user.name } : own;
};

export interface BuildNames {
  build: { id: string; number: number; branch: string };
  repository: { fullName: string };
  pipeline: { name: string };
}

/** The MILLRACE_* variables of a build, for all its steps. */
export const buildVariables = (
  { build, repository, pipeline }: BuildNames,
  commitSha: string | null,
  agentName: string,
  url: string,
): Record<string, string> => ({
  MILLRACE_BUILD_ID: build.id,
  MILLRACE_BUILD_NUMBER: String(build.number),
  MILLRACE_BRANCH: build.branch,
  MILLRACE_COMMIT: commitSha ?? "",
  MILLRACE_REPOSITORY: repository.fullName,
  MILLRACE_PIPELINE: pipeline.name,
  MILLRACE_AGENT_NAME: agentName,
  MILLRACE_URL: url,
});
