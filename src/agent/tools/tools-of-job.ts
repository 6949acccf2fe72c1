import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JobContext } from "../../domain/plan/job-context.ts";
import { formatMistake } from "../../domain/plan/mistake.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { prepareTools } from "../../domain/plan/prepare-tools.ts";
import { LocatedMistake } from "../../domain/plan/step-environment.ts";
import { BuildFailure } from "../failure.ts";
import { type SetUpOptions, setUpTools, type WantedTool } from "./set-up-tools.ts";
import { NO_TOOLS, type ToolEnvironment } from "./tool-environment.ts";
import { TOOLS } from "./tool-folders.ts";

/** @throws BuildFailure pipeline-invalid for an expression that gives no version */
const wantedOf = (plan: Plan, file: string, facts: JobContext): WantedTool[] => {
  try {
    return prepareTools(plan, facts).map(({ name, version }) => ({ name, version, from: null }));
  } catch (error) {
    if (!(error instanceof LocatedMistake)) throw error;
    throw new BuildFailure("pipeline-invalid", formatMistake(file, error.mistake));
  }
};

export interface ToolsOptions extends SetUpOptions {
  plan: Plan;
  file: string;
  facts: JobContext;
}

/** Sets up what a job's `tools` name, before its first step. @throws BuildFailure, or the signal's reason */
export const toolsIn = async (options: ToolsOptions): Promise<ToolEnvironment> => {
  const { plan, file, facts, folder, log } = options;
  if (plan.job.tools === null) return NO_TOOLS;
  const tools = wantedOf(plan, file, facts);
  log.begin("Set up tools");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return setUpTools(tools, [], options);
};

/** The same in the folder of a build: a link beside it gives the tools of each build the same path. */
export const toolsOfJob = async (
  buildFolder: string,
  options: Omit<ToolsOptions, "folder" | "root">,
): Promise<ToolEnvironment> => {
  if (options.plan.job.tools === null) return NO_TOOLS;
  const folder = join(buildFolder, TOOLS);
  const root = join(dirname(buildFolder), TOOLS);
  rmSync(root, { force: true, recursive: true });
  symlinkSync(folder, root);
  return toolsIn({ ...options, folder, root });
};
