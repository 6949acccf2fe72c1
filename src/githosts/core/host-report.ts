import type { HostTarget } from "./build-origin.ts";

/** A state as git hosts know it. */
export type HostState = "pending" | "success" | "failure" | "error";

/** How far a build is that goes on: it waits for an agent, or for people alone, or runs. */
export type HostPhase = "queued" | "asking" | "running";

/** What a host was told: the phase of what goes on, where it shows that as well, or a state that an end has too. */
export type ToldState = HostState | HostPhase;

/** What is remembered of a report that was taken: a build that asks is not taken for one that has ended. */
export const toldState = ({ state, phase }: Pick<HostReport, "state" | "phase">, hearsPhases: boolean): ToldState =>
  phase && (hearsPhases || isTerminal(state)) ? phase : state;

/** A decision that a build waits for. */
export interface Ask {
  /** The place of the job in the build's graph: with the build's id it names the gate. */
  index: number;
  /** The job's name in its file. */
  name: string;
}

/** What a git host has to be told of a build. A later `version` of the same build replaces an earlier one. */
export interface HostReport extends HostTarget {
  buildId: string;
  /** Of the build in its repository: a later build of the same commit and context replaces an earlier one. */
  number: number;
  version: number;
  sha: string;
  /** Name of the branch or tag, or a full ref of another kind. Absent where the host keeps one state of a commit. */
  ref?: string;
  state: HostState;
  /** What only some hosts show: how far a build is that goes on, and how it ended beyond its state. */
  phase?: HostPhase;
  /** Skipped builds do not count in the repository's own state. */
  ended?: "skipped" | "canceled" | "timed-out";
  /** While nothing but people is waited for: what they decide on. */
  asks?: Ask[];
  /** At most 140 characters, without any text from the outside. */
  description: string;
}

/** Contexts of a commit that got no build though their pipelines may want one. */
export interface LeftOut extends Pick<HostReport, "repoId" | "fullName" | "sha" | "ref" | "origin"> {
  contexts: string[];
}

/** Whether the state is one of an end. */
export const isTerminal = (state: HostState): boolean => state !== "pending";

/** Whether nothing follows: the build has ended. One that asks people goes on, whatever its state is meanwhile. */
export const isOver = ({ state, asks }: Pick<HostReport, "state" | "asks">): boolean => isTerminal(state) && !asks;

/** The report without its ref: most hosts have one state of a commit, whatever refers to it. */
export const withoutRef = <T extends Pick<HostReport, "ref">>({ ref: _, ...report }: T): Omit<T, "ref"> => report;

/** The report without what a host of statuses does not show: there a build that asks shows its end early, and stays. */
export const withoutPhases = ({ phase: _, asks: __, ...report }: HostReport): HostReport => report;
