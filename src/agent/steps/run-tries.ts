import type { Retry } from "../../pipeline/parse/plan.ts";
import { sleep } from "../wire/auto-reset-event.ts";
import { describeStop } from "./failed-step.ts";
import type { StepVerdict } from "./run-step.ts";

interface TriesOptions {
  /** Runs the step once; its tries count from 1. */
  run(number: number): Promise<StepVerdict>;
  /** Writes a line to the log. */
  say(text: string): void;
  /** Called before each try after the first one. */
  onTry(number: number): void;
  /** Aborted when the step must stop: there is no other try then, and no wait for one. */
  signal: AbortSignal;
}

const isWorthIt = ({ on }: Retry, { outcome, exitCode }: StepVerdict): boolean =>
  outcome === "failure" && (on === null || (exitCode !== null && on.includes(exitCode)));

/** What remains of a try that is not the last. */
const NOTHING = { outputs: {}, env: {}, path: [], summary: "", artifacts: [] };

/**
 * Runs a step, and again while it fails, as often as `retry` says. @returns how the last try ended, with what it wrote:
 * nothing remains of what another one wrote but the masks.
 */
export const runTries = async (
  retry: Retry | null,
  { run, say, onTry, signal }: TriesOptions,
): Promise<StepVerdict> => {
  const most = 1 + (retry?.times ?? 0);
  let end = await run(1);
  for (let number = 2; retry && number <= most && isWorthIt(retry, end); number++) {
    if (retry.waitSeconds > 0) say(`Waiting ${retry.waitSeconds} s before the next try`);
    await sleep(retry.waitSeconds * 1000, signal);
    if (signal.aborted) {
      const why = describeStop(signal.reason);
      say(`The step ${why}`);
      return { ...NOTHING, outcome: "cancelled", exitCode: end.exitCode, why };
    }
    onTry(number);
    say(`--- try ${number} of ${most}`);
    end = await run(number);
  }
  return end;
};
