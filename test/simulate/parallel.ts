import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { MUTANTS, type Mutant } from "./mutants.ts";
import { type Failure, merge, type Summary, type Task } from "./run.ts";

const HISTORIES_PER_TASK = 500;

/** Runs the tasks on every core. Each worker takes the next one as soon as it is free. */
const runInParallel = async (tasks: readonly Task[], onDone: (task: Task, summary: Summary) => void): Promise<void> => {
  const waiting = tasks[Symbol.iterator]();
  const runWorker = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL("./worker.ts", import.meta.url).pathname);
      let task: Task | undefined;
      const next = () => {
        task = waiting.next().value;
        if (task) worker.postMessage(task);
        else worker.terminate().then(() => resolve(), reject);
      };
      worker.on("message", (summary: Summary) => {
        onDone(task!, summary);
        next();
      });
      worker.on("error", reject);
      next();
    });
  await Promise.all(Array.from({ length: availableParallelism() }, runWorker));
};

/** Runs the first `histories` histories of a seed. `onProgress` gets the sum so far. */
export const simulate = async (
  seed: number,
  histories: number,
  onProgress: (soFar: Summary) => void = () => {},
): Promise<Summary> => {
  const tasks: Task[] = [];
  for (let from = 0; from < histories; from += HISTORIES_PER_TASK) {
    tasks.push({ seed, from, to: Math.min(from + HISTORIES_PER_TASK, histories) });
  }
  let sum = merge([]);
  await runInParallel(tasks, (_task, summary) => {
    sum = merge([sum, summary]);
    onProgress(sum);
  });
  return sum;
};

export interface MutantResult {
  mutant: Mutant;
  histories: number;
  /** The violation of the invariant that the mutant should break, or null if the checks missed it. */
  killedBy: Failure | null;
}

/**
 * Runs every mutant until its invariant is violated, for at most `histories` histories.
 * @param first the history to begin with by the mutant's name, 0 for missing ones
 */
export const testMutants = async (
  seed: number,
  histories: number,
  first: Readonly<Record<string, number>> = {},
): Promise<MutantResult[]> => {
  const results: MutantResult[] = [];
  const tasks = MUTANTS.map(({ name }, mutant) => {
    const from = first[name] ?? 0;
    return { seed, from, to: from + histories, mutant };
  });
  await runInParallel(tasks, ({ mutant: index }, { failures, histories }) => {
    const mutant = MUTANTS[index!]!;
    const killedBy = failures.find(({ invariant }) => invariant === mutant.breaks) ?? null;
    results[index!] = { mutant, histories, killedBy };
  });
  return results;
};
