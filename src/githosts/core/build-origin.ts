import type { Build, BuildEvent } from "../../protocol/build.ts";
import type { CommitSummary } from "./arrival.ts";

/** The pull request of a build, as it was when the build was made. */
interface BuildPull {
  number: number;
  /** Null where a restored pool knows the build from D1 alone. */
  base: string | null;
  branch: string;
  title: string | null;
  author: string | null;
}

/** What made a build that nobody asked for by the API. */
export interface BuildOrigin {
  event: BuildEvent;
  /** The head of the ref before; null where it is new or where the host did not tell it. */
  before: string | null;
  pull: BuildPull | null;
  /** Of the head; null where the host did not tell it. */
  commit: CommitSummary | null;
  /** The name of the schedule. */
  schedule: string | null;
  /** Patterns of which a changed file must match one, or the agent ends the build as skipped; null: none. */
  paths: string[] | null;
  /** `read-file`: the agent only sends the pipeline file, unless that file wants the push. */
  purpose: "build" | "read-file";
}

/** Where the state of a build is told: a repository at its git host, and the name of the state there. */
export interface HostTarget {
  connectionId: string;
  /** The host's id of the repository, which a rename keeps, and its name when the build was made. */
  repoId: number;
  fullName: string;
  /** `millrace/<name of the pipeline>`, the same for pushes and pull requests. */
  context: string;
  /** Scheme and host of the service as it was reached, for a link to the build; null where nobody reached it. */
  origin: string | null;
}

/**
 * What made a build, for its retry, which runs its steps whatever changed; null where a request made it. Records of
 * earlier releases lack most of it.
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

/** Builds of these events have a state of their own, so that they do not overwrite the one of the branch's head. */
const SUFFIXES: Partial<Record<BuildEvent, string>> = { tag: " (tag)", schedule: " (schedule)" };

/** The name of a pipeline's states at a git host. It is kept when the pipeline is renamed: hosts require it by name. */
export const nameHostContext = (name: string): string => `millrace/${name}`;

/**
 * Where the state of a build is told; null where nobody hears of it.
 * @param origin Scheme and host of the service as it was reached, or null.
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
