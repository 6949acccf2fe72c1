import type { JobEndStatus } from "../../src/pipeline/graph/job-end.ts";

/** The facts that a condition of the simulation can read: the end and outputs of each needed job, and the build. */
interface Sight {
  needs: { definition: string; hasFailedBehind: boolean; status: JobEndStatus; outputs: Record<string, string> }[];
  isCanceled: boolean;
  matrix: Record<string, string | boolean> | null;
}

/** An `if` that graphs of the simulation use, with an independent definition of its meaning. */
export interface Condition {
  text: string;
  /** It names a status function, so it is evaluated whatever happened to the needs. */
  hasStatus: boolean;
  /** A job with it may clean up after a cancel. */
  cleansUp: boolean;
  /** Null: it cannot be evaluated. */
  holds(sight: Sight): boolean | null;
}

/** Conditions by their texts. `yes`, `no` and `broken` are the plain variables of every simulated plan. */
const PLAIN: readonly Condition[] = [
  { text: "always()", hasStatus: true, cleansUp: true, holds: () => true },
  {
    text: "failure()",
    hasStatus: true,
    cleansUp: false,
    holds: ({ needs }) => needs.some(({ hasFailedBehind }) => hasFailedBehind),
  },
  { text: "cancelled()", hasStatus: true, cleansUp: true, holds: ({ isCanceled }) => isCanceled },
  { text: "always() && vars.no == 'yes'", hasStatus: true, cleansUp: true, holds: () => false },
  { text: "vars.yes == 'yes'", hasStatus: false, cleansUp: false, holds: () => true },
  { text: "vars.no == 'yes'", hasStatus: false, cleansUp: false, holds: () => false },
  { text: "fromJSON(vars.broken) == 'yes'", hasStatus: false, cleansUp: false, holds: () => null },
  { text: "matrix.v == 'a'", hasStatus: false, cleansUp: false, holds: ({ matrix }) => matrix?.v === "a" },
];

const OUTPUT = /^needs\.(\w+)\.outputs\.word == 'yes'$/;

/** The condition that a job runs only if the needed job said yes. */
export const saidYes = (definition: string): string => `needs.${definition}.outputs.word == 'yes'`;

/** Returns the texts of conditions that fit a job: those about a matrix only if there is one. */
export const conditionTexts = (hasMatrix: boolean): string[] =>
  PLAIN.map(({ text }) => text).filter((text) => hasMatrix || !text.startsWith("matrix"));

/** Returns the meaning of a text. @throws if no graph of the simulation has such a condition */
export const conditionOf = (text: string): Condition => {
  const plain = PLAIN.find((one) => one.text === text);
  if (plain) return plain;
  const definition = OUTPUT.exec(text)?.[1];
  if (definition === undefined) throw new Error(`The simulation has no such condition: ${text}`);
  const holds = ({ needs }: Sight) =>
    needs.find((need) => need.definition === definition && need.status === "succeeded")?.outputs.word === "yes";
  return { text, hasStatus: false, cleansUp: false, holds };
};

/** Values of the plain variables. */
export const PLAIN_VARIABLES = { yes: "yes", no: "no", broken: "{" };
