import type { JobEndStatus } from "../../src/pipeline/graph/job-end.ts";

/** What a condition of the simulation can see: how each needed job ended, what it told, and the build. */
interface Sight {
  needs: { definition: string; hasFailedBehind: boolean; status: JobEndStatus; outputs: Record<string, string> }[];
  isCanceled: boolean;
  matrix: Record<string, string | boolean> | null;
}

/** An `if` that graphs of the simulation use, with what it means in words of our own. */
export interface Condition {
  text: string;
  /** It names a status function, so that it is looked at whatever became of the needs. */
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

/** The condition that a job runs only where the job that it needs said yes. */
export const saidYes = (definition: string): string => `needs.${definition}.outputs.word == 'yes'`;

/** A text of a condition that fits a job: those of a matrix only where there is one. */
export const conditionTexts = (hasMatrix: boolean): string[] =>
  PLAIN.map(({ text }) => text).filter((text) => hasMatrix || !text.startsWith("matrix"));

/** What a text means. @throws if no graph of the simulation has such a condition */
export const conditionOf = (text: string): Condition => {
  const plain = PLAIN.find((one) => one.text === text);
  if (plain) return plain;
  const definition = OUTPUT.exec(text)?.[1];
  if (definition === undefined) throw new Error(`no condition of the simulation: ${text}`);
  const holds = ({ needs }: Sight) =>
    needs.find((need) => need.definition === definition && need.status === "succeeded")?.outputs.word === "yes";
  return { text, hasStatus: false, cleansUp: false, holds };
};

/** Values of the plain variables. */
export const PLAIN_VARIABLES = { yes: "yes", no: "no", broken: "{" };
