import { inheritedBySteps } from "../../domain/env-names.ts";
import type { BuildFolder } from "../build-folder.ts";
import type { StepUser } from "../process/step-user.ts";

/**
 * What the agent's own environment gives to steps: PATH, HOME, ANDROID_HOME..., but nothing of git or of Millrace. A
 * user of their own has a HOME for this build alone.
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

/** What every step can know of its build. */
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
