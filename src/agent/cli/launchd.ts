import { copyFileSync, statSync, truncateSync } from "node:fs";
import { EXIT } from "./exit-codes.ts";

/** Set by the LaunchAgent: the agent runs under launchd, and this is the file that its words go to. */
export const LAUNCHD_LOG = "MILLRACE_LAUNCHD_LOG";

const LOG_LIMIT = 5 * 1024 * 1024;

/** launchd appends to one file for ever: beyond the limit it becomes `FILE.1`, and the file begins anew. */
export const rotateLog = (limit = LOG_LIMIT): void => {
  const path = process.env[LAUNCHD_LOG];
  if (!path) return;
  try {
    if (statSync(path).size < limit) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  } catch {
    // A log that grows is no reason to lose a build.
  }
};

const NOT_RESTARTED: number[] = [EXIT.usage, EXIT.notRegistered, EXIT.alreadyRunning];

/** launchd starts again whatever did not end with 0, every ten seconds: what a person must mend first ends so. */
export const mustNotRestart = (exitCode: number): boolean =>
  process.env[LAUNCHD_LOG] !== undefined && NOT_RESTARTED.includes(exitCode);
