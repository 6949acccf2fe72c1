import type { Needs } from "../../protocol/jobs.ts";
import type { Matrix } from "../graph/graph.ts";
import { type Data, Dictionary, textData, toData } from "./data.ts";
import { fixedContext, outputsContext } from "./scope.ts";

/* The contexts that only the expressions of a job in `jobs` have. */

/** The combination of a job: a key that other combinations have, and this one has not, is null. */
export const matrixContext = (matrix: Matrix | null): Dictionary =>
  new Dictionary(
    Object.entries(matrix ?? {}).map(([key, value]) => [key, toData(value)]),
    () => null,
  );

const outputsOf = (outputs: Record<string, string>): Dictionary =>
  outputsContext(Object.entries(outputs).map(([key, value]) => [key, textData(value)]));

/** The outputs of a job with a matrix are nowhere merged. */
const NOT_MERGED = new Dictionary([], () => ({
  message: "The job that is needed has a matrix: read its `jobs`, a list with the outputs of each",
  always: true,
}));

const needContext = ({ result, outcome, outputs, jobs }: Needs[string]): Dictionary => {
  const list = toData([]) as Data & { add(value: Data): void };
  for (const job of jobs)
    list.add(
      new Dictionary([
        ["matrix", toData(job.matrix)],
        ["result", textData(job.result)],
        ["outcome", textData(job.outcome)],
        ["outputs", outputsOf(job.outputs)],
      ]),
    );
  return fixedContext([
    ["result", textData(result)],
    ["outcome", textData(outcome)],
    ["outputs", outputs ? outputsOf(outputs) : NOT_MERGED],
    ["jobs", list],
  ]);
};

/** How the jobs that a job needs have ended, by their keys. */
export const needsContext = (needs: Needs): Dictionary =>
  fixedContext(Object.entries(needs).map(([key, need]) => [key, needContext(need)]));
