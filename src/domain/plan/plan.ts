import type { Requires } from "../../protocol/pipeline.ts";
import type { Expression } from "../expression/parse.ts";
import type { Position } from "./mistake.ts";

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

/** A script in which variables have replaced each `${{ }}`. */
export interface Script {
  text: string;
  references: { name: string; value: LocatedExpression }[];
}

export interface PlanStep {
  id: string | null;
  /** Null shows the first line of the script instead. */
  name: Template | null;
  run: Script;
  /** First line of `run` as written, to show for a step without a name. */
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

/** The part of a plan that one agent runs. A file has one job. */
interface PlanJob {
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
