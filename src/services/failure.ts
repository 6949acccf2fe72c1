import { type Excerpt, excerptOf } from "../domain/failure/error-lines.ts";
import type { Step } from "../protocol/build.ts";
import type { Context } from "./core/context.ts";
import type { LogPart } from "./log-end.ts";
import type { Logged } from "./log-places.ts";
import { readOutput } from "./step-output.ts";

export type { Excerpt } from "../domain/failure/error-lines.ts";

/** Why a build or a job failed, as its log says. */
export interface Failure {
  /** The step that failed; null where none did, as for a checkout. */
  step: Step | null;
  excerpt: Excerpt | null;
}

interface Failed extends Logged {
  steps: Step[];
}

/** What a failed build or job says of its failure. @param end of its log, where it is read already */
export const readFailure = async (context: Context, failed: Failed, end: LogPart | null = null): Promise<Failure> => {
  const step = failed.steps.find(({ status }) => status === "failed") ?? null;
  if (failed.isLogDeleted || failed.attempt === 0) return { step, excerpt: null };
  const output = await readOutput(context, failed, failed.steps, step?.logOffset ?? 0, end);
  return { step, excerpt: excerptOf(output) };
};
