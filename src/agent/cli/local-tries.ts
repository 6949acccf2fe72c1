import type { JobEnd } from "../../pipeline/graph/job-end.ts";
import { triesAgain } from "../../queue/commands/try-rules.ts";
import { say } from "./local-words.ts";

type Tried = Pick<JobEnd, "status" | "reason">;

interface Tries<T extends Tried> {
  /** What is tried, for people. */
  name: string;
  /** Further tries after the first. */
  retry: number;
  /** Aborted by the person: no try begins after that. */
  signal: AbortSignal;
  /** One try, by its number from 1. */
  run: (attempt: number) => Promise<T>;
}

/** Tries a job as often as the service would. @returns how its last try ended */
export const runLocalTries = async <T extends Tried>({ name, retry, signal, run }: Tries<T>): Promise<T> => {
  for (let retries = 0; ; retries++) {
    const tried = await run(retries + 1);
    const status = signal.aborted ? "canceling" : "running";
    if (!triesAgain({ status, retry, retries }, tried)) return tried;
    say(`${name} failed: try ${retries + 2} of ${retry + 1}`);
  }
};
