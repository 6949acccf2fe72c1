import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { XCODE } from "../../pipeline/fields/tool-fields.ts";
import { formatMistake, LocatedMistake } from "../../pipeline/mistake.ts";
import type { Plan, ToolsTemplate } from "../../pipeline/parse/plan.ts";
import type { JobContext } from "../../pipeline/prepare/job-context.ts";
import { prepareTools } from "../../pipeline/prepare/prepare-tools.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { BuildFailure } from "../build/failure.ts";
import type { Fetched } from "../checkout/checkout.ts";
import { textsInCommit } from "../checkout/commit-file.ts";
import { fetchDefaultBranch, type Remote } from "../checkout/remote.ts";
import type { JobLog } from "../log/job-log.ts";
import type { JobAnswer } from "../wire/answers.ts";
import { LOCK_FILE, lockedTools } from "./mise-files.ts";
import { type SetUpOptions, setUpTools, type WantedTool } from "./set-up-tools.ts";
import { makeToolsFolder, NO_TOOLS, type ToolEnvironment } from "./tool-environment.ts";
import { type StoreOfBuild, ToolStore } from "./tool-store.ts";
import { toolsInFiles, VERSION_FILES } from "./version-files.ts";
import { chosenXcode, findXcodes } from "./xcodes.ts";

/** The repository's inputs for its tools. */
export interface ToolInputs {
  /** Texts of the files that name tools, by path. */
  texts: ReadonlyMap<string, string>;
  /** The default branch from the repository's host. */
  defaultRef: string | null;
}

/** Files to read for tools. */
export const TOOL_FILES = [...VERSION_FILES, LOCK_FILE];

/** Maximum bytes of such a file. */
export const TOOL_FILE_BYTES = LIMITS.definitionCharacters;

/** Reads the inputs before the steps' user gets the checkout, because git does not run in it afterwards. */
export const toolInputs = async (
  tools: ToolsTemplate | null,
  remote: Remote,
  fetched: Fetched,
): Promise<ToolInputs> => {
  if (tools === null) return { texts: new Map(), defaultRef: null };
  const texts = await textsInCommit(fetched, TOOL_FILES, TOOL_FILE_BYTES);
  return { texts, defaultRef: await fetchDefaultBranch(remote) };
};

interface ToolsOptions extends SetUpOptions {
  plan: Plan;
  file: string;
  facts: JobContext;
  /** Texts of the files that name tools, by path. */
  texts: ReadonlyMap<string, string>;
}

/** Reads the plan's tools. @throws BuildFailure pipeline-invalid for an expression without a version */
const readTools = ({ plan, file, facts }: ToolsOptions): WantedTool[] => {
  try {
    return prepareTools(plan, facts).map(({ name, version }) => ({ name, version, from: null }));
  } catch (error) {
    if (!(error instanceof LocatedMistake)) throw error;
    throw new BuildFailure("pipeline-invalid", formatMistake(file, error.mistake));
  }
};

/** Selects the Xcode that the job names. @throws BuildFailure if this machine does not have it */
const withXcode = (wantedTools: WantedTool[], log: JobLog): ToolEnvironment => {
  const version = wantedTools.find(({ name }) => name === XCODE)?.version;
  if (version === undefined) return NO_TOOLS;
  const xcode = chosenXcode(version, findXcodes());
  if (!xcode) throw new BuildFailure("agent-error", `tools: this agent has no Xcode ${version}`);
  log.say(`Xcode ${xcode.version} (${xcode.developerFolder})`);
  return { paths: [], variables: { DEVELOPER_DIR: xcode.developerFolder } };
};

/** Sets up a job's `tools` before its first step. @throws BuildFailure, or the signal's reason */
export const toolsIn = async (options: ToolsOptions): Promise<ToolEnvironment> => {
  const { plan, folder, log, texts } = options;
  if (plan.job.tools === null) return NO_TOOLS;
  const wantedTools = plan.job.tools === "auto" ? toolsInFiles(texts) : readTools(options);
  const tools = wantedTools.filter(({ name }) => name !== XCODE);
  log.begin("Set up tools");
  const { variables } = withXcode(wantedTools, log);
  if (tools.length === 0 && wantedTools.length > 0) return { paths: [], variables };
  if (tools.length === 0) {
    log.say(`nothing to set up: no tool is named in ${VERSION_FILES.join(", ")}`);
    return NO_TOOLS;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const set = await setUpTools(tools, lockedTools(texts.get(LOCK_FILE) ?? "", tools), options);
  return { ...set, variables: { ...set.variables, ...variables } };
};

/** Opens the agent's store with the scopes that this job's build may read and add to. */
const openStore = (
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

/** Sets up tools in a build's folder. A link beside it gives each build's tools the same path. */
export const setUpBuildTools = async (options: BuildToolsOptions): Promise<ToolEnvironment> => {
  const { plan, buildFolder, job, inputs } = options;
  if (plan.job.tools === null) return NO_TOOLS;
  const { folder, root } = makeToolsFolder(buildFolder);
  return toolsIn({ ...options, folder, root, store: openStore(job, inputs, options), texts: inputs.texts });
};
