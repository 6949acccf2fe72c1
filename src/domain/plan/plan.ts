import type { Requires } from "../../protocol/pipeline.ts";
import type { Expression } from "../expression/parse.ts";
import type { Position } from "./mistake.ts";

/** An expression and where each of its characters stands in the file. */
export interface LocatedExpression {
  expression: Expression;
  positionAt(offset: number): Position;
}

/** Text with `${{ }}` in it, in order. */
export type Template = (string | LocatedExpression)[];

export interface EnvEntry {
  key: string;
  value: Template;
  position: Position;
}

export const SHELLS = ["bash", "sh", "pwsh", "python", "node"] as const;
export type Shell = (typeof SHELLS)[number];

/** What `run` became: the script without any `${{ }}`, and the variables that it refers to instead. */
export interface Script {
  text: string;
  references: { name: string; value: LocatedExpression }[];
}

export interface PlanStep {
  id: string | null;
  /** Null: named by the first line of its script. */
  name: Template | null;
  run: Script;
  /** First line of `run` as written, for a step without name. */
  firstLine: string;
  shell: Shell;
  env: EnvEntry[];
  if: LocatedExpression | null;
  workingDirectory: Template | null;
  timeoutMinutes: number | null;
  continueOnError: boolean;
  position: Position;
}

export interface Checkout {
  /** Commits to fetch; 0 is the whole history. */
  depth: number;
  submodules: "none" | "direct" | "recursive";
  lfs: boolean;
  fetchTags: boolean;
}

/** What one agent does in one go. A plan of several, with needs between them, would have a list of these. */
export interface PlanJob {
  requires: Requires;
  timeoutMinutes: number | null;
  checkout: Checkout;
  steps: PlanStep[];
}

/** A parsed and checked pipeline file. */
export interface Plan {
  name: Template | null;
  env: EnvEntry[];
  job: PlanJob;
}
