import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JobContext } from "../../domain/plan/job-context.ts";
import { BuildFailure } from "../failure.ts";
import type { BuildLog } from "../log/build-log.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import type { PlanRead } from "../read-plan.ts";
import type { ToolSources } from "../tools/mise-program.ts";
import type { ToolEnvironment } from "../tools/tool-environment.ts";
import { TOOL_FILE_BYTES, TOOL_FILES } from "../tools/tool-inputs.ts";
import { toolsIn } from "../tools/tools-of-job.ts";

interface LocalTools {
  read: PlanRead;
  facts: JobContext;
  tree: ProcessTree;
  grace: number;
  signal: AbortSignal;
  log: BuildLog;
  sources: ToolSources;
}

/** The files of this folder that name tools. */
const textsHere = (): Map<string, string> =>
  new Map(
    TOOL_FILES.flatMap((file) => {
      const found = lstatSync(file, { throwIfNoEntry: false });
      if (!found?.isFile()) return [];
      if (found.size > TOOL_FILE_BYTES)
        throw new BuildFailure("pipeline-invalid", `${file} is larger than ${TOOL_FILE_BYTES} bytes`);
      return [[file, readFileSync(file, "utf8")] as const];
    }),
  );

/** Sets up tools for a run in this folder: in a folder that all runs of this person share. */
export const localTools = ({ read, ...options }: LocalTools): Promise<ToolEnvironment> => {
  const { sources } = options;
  const folder = join(sources.folder, "local");
  const texts = read.plan.job.tools === null ? new Map<string, string>() : textsHere();
  return toolsIn({ ...options, ...read, user: null, store: null, texts, folder, root: folder });
};
