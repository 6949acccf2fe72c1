import type { Build, BuildEvent } from "../../protocol/build.ts";
import type { CommitSummary } from "./arrival.ts";

/** The pull request of a build at the time when the build was created. */
interface BuildPull {
  number: number;
  /** The pull request's base; null if a restored pool knows the build only from D1. */
  base: string | null;
  branch: string;
  title: string | null;
  author: string | null;
}

/** The trigger of a build that no API request created. */
export interface BuildOrigin {
  event: BuildEvent;
  /** The ref's previous head; null if the ref is new or the host did not report the head. */
  before: string | null;
  pull: BuildPull | null;
  /** The head's commit; null if the host did not report it. */
  commit: CommitSummary | null;
  /** The name of the schedule. */
  schedule: string | null;
  /**
   * The patterns of changed files; null without patterns. Unless a changed file matches one of them, the agent ends the
   * build as skipped.
   */
  paths: string[] | null;
  /**
   * The purpose of the build. With `read-file`, the agent only sends the pipeline file, unless that file wants the
   * push.
   */
  purpose: "build" | "read-file";
}

/** Where to report a build's state: a repository at its git host, and the name of the state there. */
export interface HostTarget {
  connectionId: string;
  /** The host's id of the repository, which survives a rename, and its name when the build was created. */
  repoId: number;
  fullName: string;
  /** The name of the state, `millrace/<name of the pipeline>`. It is the same for pushes and pull requests. */
  context: string;
  /** The scheme and host under which a client reached the service, for a link to the build; null without a request. */
  origin: string | null;
}

/**
 * Returns the origin for a retry of a build; null if a request created the build. The retry runs its steps whatever
 * changed. Records of earlier releases lack most of the origin.
 */
export const originOfRetry = ({ event, pull, subject, author, schedule }: Build): BuildOrigin | null => {
  if (!event || event === "api") return null;
  return {
    event,
    before: null,
    pull: pull ? { ...pull, base: pull.base ?? "" } : null,
    commit: subject ? { subject, author } : null,
    schedule: schedule ?? null,
    paths: null,
    purpose: "build",
  };
};

interface Repository {
  connectionId: string | null;
  gitHostRepoId: number;
  fullName: string;
}

interface Pipeline {
  name: string;
  hostContext: string | null;
}

/** Builds of these events have their own state, so that they do not overwrite the state of the branch's head. */
const SUFFIXES: Partial<Record<BuildEvent, string>> = { tag: " (tag)", schedule: " (schedule)" };

/**
 * Returns the name of a pipeline's states at a git host. The name survives a rename of the pipeline, because hosts
 * require states by name.
 */
export const nameHostContext = (name: string): string => `millrace/${name}`;

/**
 * Returns where to report a build's state; null if there is no such place.
 * @param origin The scheme and host under which a client reached the service, or null.
 */
export const chooseHostTarget = (
  { connectionId, gitHostRepoId, fullName }: Repository,
  pipeline: Pipeline | null | undefined,
  event: BuildEvent,
  origin: string | null,
): HostTarget | null => {
  if (connectionId === null || !pipeline) return null;
  const context = (pipeline.hostContext ?? nameHostContext(pipeline.name)) + (SUFFIXES[event] ?? "");
  return { connectionId, repoId: gitHostRepoId, fullName, context, origin };
};
