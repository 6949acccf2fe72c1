import type { HostTarget } from "./build-origin.ts";

/** A state in the words of git hosts. */
export type HostState = "pending" | "success" | "failure" | "error";

/** The progress of an unfinished build. The build waits for an agent, waits only for people, or runs. */
export type HostPhase = "queued" | "asking" | "running";

/**
 * A state reported to a host: the phase of an unfinished build, if the host shows it, or a state that an ended build
 * can have.
 */
export type ToldState = HostState | HostPhase;

/** Returns the state of an accepted report to remember. It distinguishes a build that asks people from an ended one. */
export const toldState = ({ state, phase }: Pick<HostReport, "state" | "phase">, hearsPhases: boolean): ToldState =>
  phase && (hearsPhases || isTerminal(state)) ? phase : state;

/** A decision for which a build waits. */
export interface Ask {
  /** The job's position in the build's graph. With the build's id it identifies the gate. */
  index: number;
  /** The job's name in its file. */
  name: string;
}

/** The report of a build to a git host. A later `version` of the same build replaces an earlier one. */
export interface HostReport extends HostTarget {
  buildId: string;
  /** The build's number in its repository. A later build of the same commit and context replaces an earlier build. */
  number: number;
  version: number;
  sha: string;
  /** The name of the branch or tag, or a full ref of another kind. Absent if the host keeps one state per commit. */
  ref?: string;
  state: HostState;
  /** The progress of an unfinished build, which only some hosts show. */
  phase?: HostPhase;
  /**
   * Details of the end beyond the state, which only some hosts show. Skipped builds do not count towards the
   * repository's own state.
   */
  ended?: "skipped" | "canceled" | "timed-out";
  /** The decisions for which the build waits, if it waits for people only. */
  asks?: Ask[];
  /** A description of at most 140 characters, without any text from the outside. */
  description: string;
}

/** Contexts of a commit that have no build, although their pipelines may want one. */
export interface LeftOut extends Pick<HostReport, "repoId" | "fullName" | "sha" | "ref" | "origin"> {
  contexts: string[];
}

/** Reports whether the state is final. */
export const isTerminal = (state: HostState): boolean => state !== "pending";

/**
 * Reports whether nothing follows because the build has ended. A build that asks people continues, whatever its state
 * is.
 */
export const isOver = ({ state, asks }: Pick<HostReport, "state" | "asks">): boolean => isTerminal(state) && !asks;

/** Removes the ref from a report, because most hosts have one state per commit, whatever refers to it. */
export const withoutRef = <T extends Pick<HostReport, "ref">>({ ref: _, ...report }: T): Omit<T, "ref"> => report;

/**
 * Removes the parts of a report that a host with statuses does not show. On such a host, a build that asks people shows
 * its end early and keeps it.
 */
export const withoutPhases = ({ phase: _, asks: __, ...report }: HostReport): HostReport => report;
