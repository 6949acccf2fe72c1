import { formatMistake } from "../../pipeline/mistake.ts";
import type { JobContext, JobState } from "../../pipeline/prepare/job-context.ts";
import { outputsOfJob } from "../../pipeline/prepare/job-outputs.ts";
import type { Finish, Release } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { logger } from "../cli/logger.ts";
import { MachineNotReady } from "../hooks/job-hooks.ts";
import type { JobLog } from "../log/job-log.ts";
import { heldId, type JobAnswer } from "../wire/answers.ts";
import { type ApiClient, describeAnswer } from "../wire/client.ts";
import {
  BuildFailure,
  Cancel,
  type CancelReason,
  RequirementsNotMet,
  ToldFailure,
  TryElsewhere,
  toBuildFailure,
} from "./failure.ts";
import type { PlanRead } from "./read-plan.ts";

/** The agent's report at the end of a build. If the service rejects the release, the agent reports `otherwise`. */
export type ReportedResult = { kind: "finish"; body: Finish } | { kind: "release"; body: Release; otherwise?: Finish };
/** `planned` means that the build continues in its jobs, and that the agent has nothing to report. */
export type BuildResult = ReportedResult | { kind: "planned" };

/** Returns the result of a build whose steps did not finish. Writes the reason to the log. */
export const toResult = (error: unknown, job: JobAnswer, log: JobLog): ReportedResult => {
  if (error instanceof RequirementsNotMet)
    return { kind: "release", body: { reason: error.message, requires: error.requires } };
  if (error instanceof MachineNotReady) return { kind: "release", body: { reason: error.message } };
  if (error instanceof Cancel && error.reason === "interrupted") {
    log.say("The agent was stopped: this attempt is lost");
    return { kind: "release", body: { reason: "the agent was stopped", interrupted: true } };
  }
  if (error instanceof Cancel && error.reason !== "timeout") {
    log.say(CANCELED[error.reason] ?? "The build was canceled");
    return { kind: "finish", body: { status: "canceled", exitCode: null, reason: "canceled" } };
  }
  const failure = error instanceof Cancel ? timeoutFailure(error.limit ?? job.timeoutSeconds) : toBuildFailure(error);
  if (!(failure instanceof ToldFailure)) log.say(failure.message);
  const { reason, message } = failure;
  const finish: Finish = { status: "failed", exitCode: null, reason, message };
  if (!(failure instanceof TryElsewhere)) return { kind: "finish", body: finish };
  return { kind: "release", body: { reason: message, elsewhere: true }, otherwise: finish };
};

const CANCELED: Partial<Record<CancelReason, string>> = {
  "fail-fast": "Stopped because another job failed (fail-fast)",
  superseded: "Stopped because a newer build replaces this one",
};

const timeoutFailure = (seconds: number): BuildFailure =>
  new BuildFailure("timeout", `the build exceeded its time limit of ${seconds} seconds`);

/** Returns the result of a build that cannot begin because of this machine. */
export const toBrokenMachineResult = (error: unknown): ReportedResult => ({
  kind: "release",
  body: { reason: toBuildFailure(error).message, interrupted: true },
});

interface ReportResultOptions {
  client: ApiClient;
  job: JobAnswer;
  /** The build's name in the agent's own log. */
  name: string;
  signal: AbortSignal;
  /** Masks secrets in texts that leave the machine. */
  mask: (text: string) => string;
}

/** Sends the result. Only logs a rejection, because the service has then decided about the build. */
export const reportResult = async (result: ReportedResult, options: ReportResultOptions): Promise<void> => {
  const { client, job, name, signal, mask } = options;
  const path = `/build/${heldId(job)}/${result.kind}`;
  const answer = await client.send({ method: "POST", path, body: toBody(result, mask), lease: job.lease, signal });
  if (answer.status !== 200 && result.kind === "release" && result.otherwise)
    return reportResult({ kind: "finish", body: result.otherwise }, options);
  if (answer.status !== 200)
    return logger.warn(`the service rejected the result of ${name}: ${describeAnswer(answer)}`);
  logger.info(
    result.kind === "release"
      ? `${name} returned to the queue: ${result.body.reason}`
      : `${name} ${result.body.status}`,
  );
};

const toBody = ({ kind, body }: ReportedResult, mask: (text: string) => string): Finish | Release => {
  if (kind === "release") return { ...body, reason: mask(body.reason).slice(0, LIMITS.releaseReasonCharacters) };
  return { ...body, message: body.message ? mask(body.message).slice(0, LIMITS.messageCharacters) : null };
};

/**
 * Returns the outputs for the jobs that need this one. `mask` changes every text that contains a secret.
 * @throws BuildFailure output-refused with the output's name
 */
export const checkedOutputs = (
  { file, whole, definition }: Pick<PlanRead, "file" | "whole" | "definition">,
  facts: JobContext,
  state: JobState,
  mask: (text: string) => string,
): Record<string, string> => {
  if (definition === null) return {};
  const { outputs, fromSecrets, mistake } = outputsOfJob(whole, definition, facts, state);
  if (mistake) throw new BuildFailure("output-refused", formatMistake(file, mistake));
  const secret = Object.entries(outputs).find(([name, text]) => fromSecrets.includes(name) || mask(text) !== text);
  if (!secret) return outputs;
  throw new BuildFailure(
    "output-refused",
    `The output ${secret[0]} has a secret in it: pass secrets as variables to each job that needs them`,
  );
};
