import type { JobEndStatus } from "../../../src/pipeline/graph/job-end.ts";

/** The end of a needed job, as a law sees it. */
export interface Seen {
  definition: string;
  isOptional: boolean;
  mayFail: boolean;
  status: JobEndStatus;
  /** It failed and its failure counts, or it never ran because an earlier job failed. */
  isBecauseOfFailure: boolean;
  word: string | undefined;
}

type Meaning = (seen: readonly Seen[], isCanceled: boolean) => boolean | "mistake";

interface Words {
  means: Meaning;
  /** Its condition is evaluated even if a need did not succeed. */
  looksItself?: true;
  /** Its condition contains always() or cancelled(). */
  mayCleanUp?: true;
}

/** The `if` conditions of random jobs, each with its meaning in the test's own terms. */
const CONDITIONS: Record<string, Words> = {
  "success()": { means: () => true },
  "build.branch == 'main'": { means: () => true },
  "build.branch == 'other'": { means: () => false },
  "fromJSON(vars.BROKEN) == 1": { means: () => "mistake" },
  "changed('docs/**')": { means: () => false },
  "changed('src/**')": { means: () => true },
  "failure()": { looksItself: true, means: (seen) => seen.some((one) => one.isBecauseOfFailure) },
  "always()": { looksItself: true, mayCleanUp: true, means: () => true },
  "cancelled()": { looksItself: true, mayCleanUp: true, means: (_, isCanceled) => isCanceled },
  "!cancelled()": { looksItself: true, mayCleanUp: true, means: (_, isCanceled) => !isCanceled },
  "always() && build.branch == 'other'": { looksItself: true, mayCleanUp: true, means: () => false },
  "failure() || cancelled()": {
    looksItself: true,
    mayCleanUp: true,
    means: (seen, isCanceled) => isCanceled || seen.some((one) => one.isBecauseOfFailure),
  },
};

export const TEXTS = Object.keys(CONDITIONS);

const OUTPUT = /^needs\.(\w+)\.outputs\.word == 'yes'$/;
export const saidYes = (definition: string): string => `needs.${definition}.outputs.word == 'yes'`;

/** @throws if no random job has such a condition */
export const wordsOf = (text: string | null): Words => {
  if (text === null) return { means: () => true };
  const definition = OUTPUT.exec(text)?.[1];
  const words = definition
    ? { means: (seen: readonly Seen[]) => seen.find((one) => one.definition === definition)?.word === "yes" }
    : CONDITIONS[text];
  if (!words) throw new Error(`no condition of these tests: ${text}`);
  return words;
};
