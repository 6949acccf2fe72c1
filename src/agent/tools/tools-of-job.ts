import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { XCODE } from "../../pipeline/fields/tool-words.ts";
import type { Plan } from "../../pipeline/parse/plan.ts";
import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import { prepareTools } from "../../pipeline/prepare/prepare-tools.ts";
import { LocatedMistake } from "../../pipeline/yaml/located-mistake.ts";
import { formatMistake } from "../../pipeline/yaml/mistake.ts";
import { BuildFailure } from "../build/failure.ts";
import type { JobLog } from "../log/build-log.ts";
import type { JobAnswer } from "../wire/answers.ts";
import { LOCK_FILE, lockedTools } from "./lock-file.ts";
import { type SetUpOptions, setUpTools, type WantedTool } from "./set-up-tools.ts";
import type { StoreOfBuild } from "./stored-tools.ts";
import { NO_TOOLS, type ToolEnvironment } from "./tool-environment.ts";
import { makeToolsFolder } from "./tool-folders.ts";
import type { ToolInputs } from "./tool-inputs.ts";
import { ToolStore } from "./tool-store.ts";
import { toolsInFiles, VERSION_FILES } from "./version-files.ts";
import { chosenXcode, findXcodes } from "./xcodes.ts";

interface ToolsOptions extends SetUpOptions {
  plan: Plan;
  file: string;
  facts: JobContext;
  /** Texts of the files that name tools, by their paths. */
  texts: ReadonlyMap<string, string>;
}

/** @throws BuildFailure pipeline-invalid for an expression that gives no version */
const named = ({ plan, file, facts }: ToolsOptions): WantedTool[] => {
  try {
    return prepareTools(plan, facts).map(({ name, version }) => ({ name, version, from: null }));
  } catch (error) {
    if (!(error instanceof LocatedMistake)) throw error;
    throw new BuildFailure("pipeline-invalid", formatMistake(file, error.mistake));
  }
};

/** Chooses the Xcode that is named: it is there, or the job is for another agent. @throws BuildFailure */
const withXcode = (wanted: WantedTool[], log: JobLog): ToolEnvironment => {
  const version = wanted.find(({ name }) => name === XCODE)?.version;
  if (version === undefined) return NO_TOOLS;
  const xcode = chosenXcode(version, findXcodes());
  if (!xcode) throw new BuildFailure("agent-error", `tools: this agent has no Xcode ${version}`);
  log.say(`Xcode ${xcode.version} (${xcode.developerFolder})`);
  return { paths: [], variables: { DEVELOPER_DIR: xcode.developerFolder } };
};

/** Sets up what a job's `tools` name, before its first step. @throws BuildFailure, or the signal's reason */
export const toolsIn = async (options: ToolsOptions): Promise<ToolEnvironment> => {
  const { plan, folder, log, texts } = options;
  if (plan.job.tools === null) return NO_TOOLS;
  const wanted = plan.job.tools === "auto" ? toolsInFiles(texts) : named(options);
  const tools = wanted.filter(({ name }) => name !== XCODE);
  log.begin("Set up tools");
  const { variables } = withXcode(wanted, log);
  if (tools.length === 0 && wanted.length > 0) return { paths: [], variables };
  if (tools.length === 0) {
    log.say(`nothing to set up: none of ${VERSION_FILES.join(", ")} names a tool`);
    return NO_TOOLS;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const set = await setUpTools(tools, lockedTools(texts.get(LOCK_FILE) ?? "", tools), options);
  return { ...set, variables: { ...set.variables, ...variables } };
};

/** What a build of this job may read of the agent's store, and add to it. */
const storeOf = (
  { build, repository }: JobAnswer,
  { defaultRef }: ToolInputs,
  { sources: { folder, quotaBytes } }: Pick<SetUpOptions, "sources">,
): StoreOfBuild => {
  const scope = { repository: `${build.repoId} ${repository.cloneUrl}` };
  return {
    store: new ToolStore(join(folder, "store"), quotaBytes),
    own: { ...scope, trust: build.pull || build.trust === "untrusted" ? "pull" : "branch", ref: build.ref },
    main: defaultRef === null ? null : { ...scope, trust: "branch", ref: defaultRef },
  };
};

interface BuildToolsOptions extends Omit<ToolsOptions, "folder" | "root" | "texts" | "store"> {
  /** The build's folder. */
  buildFolder: string;
  job: JobAnswer;
  inputs: ToolInputs;
}

/** The same in the folder of a build: a link beside it gives the tools of each build the same path. */
export const toolsOfBuild = async (options: BuildToolsOptions): Promise<ToolEnvironment> => {
  const { plan, buildFolder, job, inputs } = options;
  if (plan.job.tools === null) return NO_TOOLS;
  const { folder, root } = makeToolsFolder(buildFolder);
  return toolsIn({ ...options, folder, root, store: storeOf(job, inputs, options), texts: inputs.texts });
};
