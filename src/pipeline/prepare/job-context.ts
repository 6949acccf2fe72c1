import type { Needs } from "../../protocol/jobs.ts";
import type { Matrix } from "../graph/graph.ts";

/** The values that a job's expressions can read before its first step runs. */
export interface JobContext {
  /** The composed environment and the variables that the service adds. */
  env: Record<string, string>;
  secretKeys: string[];
  /** Keys of `env` that the run itself set: the file cannot override them. */
  runKeys: string[];
  build: {
    id: string;
    number: number;
    branch: string;
    commit: string | null;
    message: string | null;
    attempt: number;
    trigger: string;
    event: string;
    ref: string;
    tag: string | null;
    pull: { number: number; base: string | null; branch: string } | null;
    /** The commit that changes are counted from; null where nothing tells. */
    base: string | null;
    schedule: string | null;
    /** False for the code of a fork, or of an author who is not trusted: there are no secrets then. */
    trusted: boolean;
  };
  /** Paths that the build's commits changed; none are given where nothing tells. */
  changedFiles?: readonly string[] | null;
  repository: { id: string; fullName: string; cloneUrl: string };
  agent: { id: string; name: string; platform: "macos" | "linux" | "windows" | "other" };
  /** The combination of a job in `jobs`; null for one without a matrix. Absent where the file has only steps. */
  matrix?: Matrix | null;
  /** How the jobs that it needs have ended. Absent where the file has only steps. */
  needs?: Needs;
}
