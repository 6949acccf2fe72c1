import type { Requires } from "../../protocol/pipeline.ts";
import type { Mistake } from "../plan/mistake.ts";
import type { Plan } from "../plan/plan.ts";
import type { GraphFacts, JobGraph } from "./graph.ts";

export interface ExpandOptions {
  facts: GraphFacts;
  /** SHA-256 of the file's text, in hexadecimal digits. */
  hash: string;
  /** Null for a definition of the pipeline's record. */
  path: string | null;
  commitSha: string | null;
  /** Of the pipeline and the trigger: an agent has to meet these too. */
  requires: Requires;
  /** The pipeline's: the smaller of it and the job's counts. */
  timeoutSeconds: number;
  newId(): string;
}

export type Expanded = { graph: JobGraph; mistakes?: undefined } | { graph?: undefined; mistakes: Mistake[] };

/** Makes the jobs of a build from its file, all expressions but conditions evaluated. A file of steps is one job. */
export const expand = (_plan: Plan, _options: ExpandOptions): Expanded => ({ mistakes: [] });
