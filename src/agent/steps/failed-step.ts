import { statfsSync } from "node:fs";
import { constants } from "node:os";
import { Cancel, toBuildFailure } from "../failure.ts";
import type { StepUser } from "../process/step-user.ts";
import type { StepOutput } from "./step-output.ts";
import type { ProcessEnd } from "./step-process.ts";

/** Bytes below which a disk counts as full: a program that found no room for more may have left some. */
const HARDLY_ANY = 1024 * 1024;

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** How a process ended, in words that follow "The step". */
export const describeExit = ({ code, signal }: ProcessEnd): string => {
  if (signal) return `was killed by ${signal} (signal ${constants.signals[signal]})`;
  const name = SIGNAL_NAMES.get(code - 128);
  return `ended with exit code ${code}${name ? ` (128 + ${code - 128}: ${name})` : ""}`;
};

const CANCELS: Record<Cancel["reason"], string> = {
  canceled: "the build was canceled",
  timeout: "the build ran out of time",
  interrupted: "the agent is being stopped",
  "lease-lost": "the build is no longer this agent's",
};

/** Why a step was stopped from outside, in words that follow "The step". */
export const describeStop = (reason: unknown): string =>
  `was stopped: ${reason instanceof Cancel ? CANCELS[reason.reason] : "the time for tidying up after a stop is over"}`;

/** Why a step could not even begin, in words that follow "The step". */
export const describeStartFailure = (error: unknown, user: StepUser | null): string => {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const words = (): string => {
    if (code === "E2BIG") return "its environment is larger than this machine allows";
    if (code === "EACCES") return `${user?.name ?? "the agent's user"} may not run ${path ?? "its shell"}`;
    return code === undefined ? message : toBuildFailure(error).message;
  };
  return `could not be started: ${words()}`;
};

/** What about the machine may explain why a step failed, a line each. */
export const possibleCauses = (workspace: string, user: StepUser | null, output: StepOutput): string[] => [
  ...(isFull(workspace, user) ? [`It may be why: ${toBuildFailure({ code: "ENOSPC" }).message}`] : []),
  ...(output.isNonBlocking() ? [NON_BLOCKING] : []),
];

const NON_BLOCKING =
  "It may be why: a program has made the step's output non-blocking, as node does, and what else writes to it may fail " +
  "with EAGAIN. Give that program an output of its own: PROGRAM | cat";

const isFull = (folder: string, user: StepUser | null): boolean => {
  try {
    const { bavail, bfree, bsize, files, ffree } = statfsSync(folder);
    const isRoot = user === null && process.getuid?.() === 0;
    return (isRoot ? bfree : bavail) * bsize < HARDLY_ANY || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
};
