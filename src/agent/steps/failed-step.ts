import { statfsSync } from "node:fs";
import { constants } from "node:os";
import { MIB } from "../../protocol/units.ts";
import { Cancel, toBuildFailure } from "../build/failure.ts";
import type { StepUser } from "../process/step-user.ts";
import type { ProcessEnd, StepOutput } from "./step-process.ts";

/** A disk with fewer free bytes counts as full, because a failed write can leave a little space. */
const DISK_FULL_BELOW = MIB;

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** Describes a process's end, worded to follow "The step". */
export const describeExit = ({ code, signal }: ProcessEnd): string => {
  if (signal) return `was killed by ${signal} (signal ${constants.signals[signal]})`;
  const name = SIGNAL_NAMES.get(code - 128);
  return `ended with exit code ${code}${name ? ` (128 + ${code - 128}: ${name})` : ""}`;
};

const CANCELS: Record<Cancel["reason"], string> = {
  canceled: "the build was canceled",
  superseded: "a newer commit took its place",
  "fail-fast": "another job failed",
  timeout: "the build exceeded its time limit",
  interrupted: "the agent is stopping",
  "lease-lost": "this agent lost the build's lease",
};

/** Explains why the agent stopped a step, worded to follow "The step". */
export const describeStop = (reason: unknown): string =>
  `was stopped: ${reason instanceof Cancel ? CANCELS[reason.reason] : "the cleanup steps exceeded their time limit"}`;

/** Lists the largest variables with their values' bytes. */
const largestVariables = (env: Record<string, string>): string =>
  Object.entries(env)
    .map(([name, value]) => ({ name, bytes: Buffer.byteLength(value) }))
    .sort((one, other) => other.bytes - one.bytes)
    .slice(0, 3)
    .map(({ name, bytes }, index) => `${name} ${index === 0 ? `has ${bytes} bytes` : bytes}`)
    .join(", ");

/** Explains why a step could not start with these variables, worded to follow "The step". */
export const describeStartFailure = (error: unknown, user: StepUser | null, env: Record<string, string>): string => {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const reason = (): string => {
    if (code === "E2BIG") return `its environment is larger than this machine allows (${largestVariables(env)})`;
    if (code === "EACCES") return `${user?.name ?? "the agent's user"} has no permission to run ${path ?? "its shell"}`;
    return code === undefined ? message : toBuildFailure(error).message;
  };
  return `could not be started: ${reason()}`;
};

/** Lists this machine's possible causes for a failed step, one a line. */
export const possibleCauses = (workspace: string, user: StepUser | null, output: StepOutput): string[] => [
  ...(isFull(workspace, user) ? [`Possible cause: ${toBuildFailure({ code: "ENOSPC" }).message}`] : []),
  ...(output.isNonBlocking() ? [NON_BLOCKING] : []),
];

const NON_BLOCKING =
  "Possible cause: a program such as node made the step's output non-blocking, so other programs that write to it " +
  "may fail with EAGAIN. Give that program its own output: PROGRAM | cat";

const isFull = (folder: string, user: StepUser | null): boolean => {
  try {
    const { bavail, bfree, bsize, files, ffree } = statfsSync(folder);
    const isRoot = user === null && process.getuid?.() === 0;
    return (isRoot ? bfree : bavail) * bsize < DISK_FULL_BELOW || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
};
