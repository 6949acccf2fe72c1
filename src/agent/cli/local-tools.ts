import { join } from "node:path";
import type { JobContext } from "../../domain/plan/job-context.ts";
import type { BuildLog } from "../log/build-log.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import type { PlanRead } from "../read-plan.ts";
import type { ToolEnvironment } from "../tools/tool-environment.ts";
import { toolsIn } from "../tools/tools-of-job.ts";
import { defaultStateFolder } from "./identity.ts";
import { defaultRegistry, toolSourcesIn } from "./tool-options.ts";

interface LocalTools {
  read: PlanRead;
  facts: JobContext;
  tree: ProcessTree;
  grace: number;
  signal: AbortSignal;
  log: BuildLog;
}

/** Sets up tools for a run in this folder: in a folder that all runs of this person share. */
export const localTools = ({ read, ...options }: LocalTools): Promise<ToolEnvironment> => {
  const sources = toolSourcesIn(defaultStateFolder(), {
    npmRegistry: defaultRegistry(),
    mise: process.env.MILLRACE_MISE,
  });
  const folder = join(sources.folder, "local");
  return toolsIn({ ...options, ...read, user: null, sources, folder, root: folder });
};
