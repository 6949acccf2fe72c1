import type { BuildEvent } from "../../protocol/build.ts";
import type { HostTarget } from "./build-origin.ts";

interface Repository {
  connectionId: string | null;
  gitHostRepoId: number;
  fullName: string;
}

interface Pipeline {
  name: string;
  hostContext: string | null;
}

/** Builds of these events have a state of their own, so that they do not overwrite the one of the branch's head. */
const SUFFIXES: Partial<Record<BuildEvent, string>> = { tag: " (tag)", schedule: " (schedule)" };

/** The name of a pipeline's states at a git host. It is kept when the pipeline is renamed: hosts require it by name. */
export const hostContextOf = (name: string): string => `millrace/${name}`;

/**
 * Where the state of a build is told; null where nobody hears of it.
 * @param origin Scheme and host of the service as it was reached, or null.
 */
export const hostTargetOf = (
  { connectionId, gitHostRepoId, fullName }: Repository,
  pipeline: Pipeline | null | undefined,
  event: BuildEvent,
  origin: string | null,
): HostTarget | null => {
  if (connectionId === null || !pipeline) return null;
  const context = (pipeline.hostContext ?? hostContextOf(pipeline.name)) + (SUFFIXES[event] ?? "");
  return { connectionId, repoId: gitHostRepoId, fullName, context, origin };
};
