import type { HostTarget } from "../../src/githosts/core/build-origin.ts";

/** There are two, so that one can reach its `maxParallel` while the other has room. */
export interface Pipeline {
  id: string;
  repoId: string;
  maxParallel: number | null;
  maxAttempts: number;
  timeoutSeconds: number;
  platform: "macos" | "linux" | null;
  /** Whether a newer head ends the builds of earlier ones. */
  supersedes: boolean;
}

/** Where to report the state of a pipeline's builds. */
export const HOST_OF = (pipelineId: string): HostTarget => {
  return { connectionId: "c", repoId: 1, fullName: "acme/app", context: `millrace/${pipelineId}`, origin: null };
};
