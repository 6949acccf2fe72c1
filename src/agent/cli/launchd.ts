import { copyFileSync, statSync, truncateSync } from "node:fs";
import { EXIT } from "./exit-codes.ts";

/** Set by the LaunchAgent: the agent runs under launchd, which appends the agent's log to this file. */
export const LAUNCHD_LOG = "MILLRACE_LAUNCHD_LOG";

const LOG_LIMIT = 5 * 1024 * 1024;

/** launchd does not rotate logs. Above the limit, the content moves to `FILE.1` and the file is emptied. */
export const rotateLog = (limit = LOG_LIMIT): void => {
  const path = process.env[LAUNCHD_LOG];
  if (!path) return;
  try {
    if (statSync(path).size < limit) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  } catch {
    // A log that cannot be rotated must not end a build.
  }
};

const NOT_RESTARTED: number[] = [EXIT.usage, EXIT.notRegistered, EXIT.alreadyRunning, EXIT.hooks];

/** launchd restarts a program that did not end with 0. What only a person can repair must therefore end with 0. */
export const mustNotRestart = (exitCode: number): boolean =>
  process.env[LAUNCHD_LOG] !== undefined && NOT_RESTARTED.includes(exitCode);
