import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Milliseconds that a process has after each signal. */
const PATIENCE = 30_000;

/**
 * Ends a child by these signals, one after the other while it lives, and by SIGKILL after the last.
 * @returns when it is gone
 */
export const endProcess = async (child: ChildProcess, signals: NodeJS.Signals[] = ["SIGTERM"]): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  for (const signal of [...signals, "SIGKILL"] as const) {
    child.kill(signal);
    if (await isGoneWithin(gone, PATIENCE)) return;
  }
  await gone;
};

const isGoneWithin = (gone: Promise<unknown>, milliseconds: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    gone.then(
      () => {
        clearTimeout(timer);
        resolve(true);
      },
      () => resolve(true),
    );
  });
