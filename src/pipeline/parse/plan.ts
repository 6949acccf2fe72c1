import type { Requires } from "../../protocol/pipeline.ts";
import type { Role } from "../../protocol/token.ts";
import type { JobNames } from "../expression/names.ts";
import type { Expression } from "../expression/parse.ts";
import type { Concurrency, Gate, Matrix } from "../graph/graph.ts";
import type { Position } from "../mistake.ts";

/** An expression, with the position in the file of each of its characters. */
export interface LocatedExpression {
  expression: Expression;
  positionAt(offset: number): Position;
}

/** A text in parts: literal text and `${{ }}` expressions. */
export type Template = (string | LocatedExpression)[];

export interface EnvEntry {
  key: string;
  value: Template;
  position: Position;
}

export const SHELLS = ["bash", "sh", "pwsh", "python", "node"] as const;
export type Shell = (typeof SHELLS)[number];

/** A script in which a variable has replaced each `${{ }}`. */
export interface Script {
  text: string;
  references: { name: string; value: LocatedExpression }[];
}

/** How often and when to retry a failed step. */
export interface Retry {
  /** Tries after the first one. */
  times: number;
  /** Exit codes that allow another try; null if any failure allows it. */
  on: number[] | null;
  /** Seconds before each retry. */
  waitSeconds: number;
}

export const INPUT_TYPES = ["string", "number", "boolean", "choice"] as const;

/** The type of an input's value. */
export interface InputKind {
  type: (typeof INPUT_TYPES)[number];
  /** The options of a choice. */
  options: string[];
}

export type InputLiteral = string | number | boolean | null;

/** The values that the steps of an included file read as `inputs`, and the values of the including file. */
export interface InputScope {
  values: Map<string, InputLiteral | (InputKind & { template: Template; position: Position })>;
  outer?: InputScope;
}

export interface PlanStep {
  id: string | null;
  /** The step's name; null to show the first line of the script instead. */
  name: Template | null;
  run: Script;
  /** The first line of `run` as written, to show for a step without a name. */
  firstLine: string;
  shell: Shell;
  env: EnvEntry[];
  if: LocatedExpression | null;
  workingDirectory: Template | null;
  /** The time limit of each try. */
  timeoutMinutes: number | null;
  retry: Retry | null;
  continueOnError: boolean;
  position: Position;
  /** Set for a step in an included file. */
  inputs?: InputScope;
}

export interface Checkout {
  /** The number of commits to fetch; 0 is the whole history. */
  depth: number;
  submodules: "none" | "direct" | "recursive";
  lfs: boolean;
  fetchTags: boolean;
  /**
   * The path of the workspace: the same for each build of the pipeline on an agent, or absent for the build's own path.
   */
  path?: "stable";
  /** The times of files: those of the commits that changed them, or absent for the time of the checkout. */
  mtimes?: "commit";
}

/** A tool with its version, as the file names it. */
export interface NamedTool {
  name: string;
  version: Template;
  position: Position;
}

/** The tools of a file or job. `auto` means the tools that files of the commit name. */
export type ToolsTemplate = "auto" | NamedTool[];

/** Files to keep when the steps have ended. */
export interface PlanArtifact {
  name: string;
  /** Files, folders and patterns. A path with `!` excludes matches of earlier paths. */
  paths: string[];
  as: "files" | "tar";
  keepDays: number | null;
  ifNone: "fail" | "warn" | "ignore";
  when: "success" | "failure" | "always";
}

/**
 * Files to put into a folder of the checkout before the first step. Without a name, these are all artifacts of a job.
 */
export interface PlanDownload {
  from: string;
  artifact: string | null;
  /** The parts of the folder's path. */
  to: string[];
}

/** A cache that a job restores in its next build. */
export interface PlanCache {
  name: string;
  /** Paths in the checkout, or below `~/`. */
  paths: string[];
  /** Files of the commit whose ids are part of the key. */
  files: string[];
  key: Template | null;
  /** Beginnings of keys that may replace the full key. */
  fallback: Template[];
  /** Whether all combinations of the matrix share one cache. */
  isShared: boolean;
  save: "success" | "always" | "never";
  /** Whether to upload even a large entry to the service. */
  isRemote: boolean;
}

/** The part of a plan that one agent runs. */
interface PlanJob {
  requires: Requires;
  timeoutMinutes: number | null;
  /** How to fetch the commit; false if the job runs without the commit's files. */
  checkout: Checkout | false;
  /** The tools to set up before the first step; null for none. */
  tools: ToolsTemplate | null;
  steps: PlanStep[];
  artifacts: PlanArtifact[];
  downloads: PlanDownload[];
  /** The paths and patterns of test reports. */
  reports: { junit: string[] };
  /** The caches; absent if the file names no caches. */
  caches?: PlanCache[];
}

/** The requirements for the agent, which may depend on the job's combination of its matrix. */
export interface RequiresTemplate {
  platform: Requires["platform"] | Template;
  ios: boolean | LocatedExpression | null;
  android: boolean | LocatedExpression | null;
  web: boolean | LocatedExpression | null;
  labels: Template[] | null;
  /** The Xcode version in the job's tools. */
  xcode: NamedTool | null;
}

/** A job as the file defines it. A matrix turns it into several jobs. */
export interface JobDefinition {
  key: string;
  position: Position;
  name: Template | null;
  /** Direct needs, in the order written. */
  needs: { job: string; isOptional: boolean }[];
  if: LocatedExpression | null;
  /** The combinations of the job's matrix, in GitHub's order; null without a matrix. `axes` are the keys that vary. */
  matrix: { axes: string[]; combinations: Matrix[] } | null;
  maxParallel: number | null;
  failFast: boolean;
  mayFail: boolean | LocatedExpression;
  /** Retries after the job's steps failed. */
  retry: number;
  concurrency: { group: Template; limit: number; whenBusy: Concurrency["whenBusy"]; position: Position } | null;
  gate: { message: Template | null; by: Role; timeoutHours: number; hostStatus: Gate["hostStatus"] } | null;
  groups: string[];
  outputs: { name: string; value: Template; position: Position }[];
  /** Variables of this job alone. The file's variables precede them. */
  env: EnvEntry[];
  job: Omit<PlanJob, "requires"> & { requires: RequiresTemplate };
  /** The names in the job's expressions. */
  names: JobNames;
}

/** A parsed and checked pipeline file. */
export interface Plan {
  name: Template | null;
  env: EnvEntry[];
  /** The job, without steps for a file with `jobs`: see `planOfJob`. */
  job: PlanJob;
  /** The jobs; null for a file of steps. */
  jobs: JobDefinition[] | null;
  /** Whether the first failure of a job ends all others. */
  failFast: boolean;
  /** Variable groups that a file of steps requests. */
  groups: string[];
  /** Retries of a file of steps after the steps failed. */
  retry: number;
  /** Set only in a check: the file includes files that nobody read. */
  hasUnread?: true;
}
