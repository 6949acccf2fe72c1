import { RULES } from "../../src/queue/state/rules.ts";
import { History } from "./history.ts";
import { MUTANTS } from "./mutants.ts";
import { type Failure, runHistory } from "./run.ts";
import { JsonTrace, Trace } from "./trace.ts";

/** Identifies one history: with the same code these three give the same calls and answers. */
export interface HistoryId {
  seed: number;
  index: number;
  /** The mutant's name. */
  mutant?: string;
}

/** Returns the command that prints the trace of a history. */
export const replayCommand = ({ seed, index, mutant }: HistoryId): string =>
  `npm run simulate -- --seed ${seed} --history ${index}${mutant ? ` --mutant "${mutant}"` : ""}`;

/** Runs one history and prints each line of its trace. Returns the failure, if there is one. */
export const replay = (
  { seed, index, mutant }: HistoryId,
  print: (line: string) => void,
  { json = false } = {},
): Failure | undefined => {
  const trace = json ? new JsonTrace(print) : new Trace(print);
  const { rules } = MUTANTS.find(({ name }) => name === mutant) ?? { rules: RULES };
  const history = new History(seed, index, rules, trace);
  const failure = runHistory(history, index);
  if (failure && trace instanceof Trace) trace.printInterrupted();
  return failure;
};

/** Returns the end of a failing history's trace, the violation and the command to replay it. */
export const failureReport = (id: HistoryId, lineCount = 30): string[] => {
  const lines: string[] = [];
  const failure = replay(id, (line) => lines.push(line));
  const omitted = Math.max(0, lines.length - lineCount);
  return [
    ...(omitted > 0 ? [`... ${omitted} lines before`] : []),
    ...lines.slice(omitted),
    failure ? `Violation of ${failure.message}` : "No violation.",
    `Replay: ${replayCommand(id)}`,
  ];
};
