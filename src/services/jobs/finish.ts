import { log } from "../../log.ts";
import { Build } from "../../protocol/build.ts";
import { PathId } from "../../protocol/common.ts";
import { Finish } from "../../protocol/jobs.ts";
import { byteSize, LIMITS } from "../../protocol/limits.ts";
import type { StoredTests } from "../../protocol/test-report.ts";
import type { FinishReport } from "../../queue/commands/commands.ts";
import { buildRecord } from "../builds/build-view.ts";
import type { Context } from "../core/context.ts";
import { Refusal, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { type EndedJob, writeTestResults } from "../tests/test-reports.ts";
import { type Holder, masked, readHolder } from "./jobs.ts";

/**
 * Returns the masked texts. Returns null once the log is closed. In that case, the agent reported the result earlier,
 * or reports it too late.
 */
const maskedAtEnd = async (context: Context, { jobId, fence }: Holder, texts: string[]): Promise<string[] | null> => {
  try {
    return await masked(context, jobId, fence, texts);
  } catch (error) {
    if (error instanceof Refusal && error.kind === "lease-lost") return null;
    throw error;
  }
};

/** Returns the result of a job whose outputs no other job may get. `text` names the output, masked. */
const refusedOutputs = (text: string) => ({
  status: "failed" as const,
  exitCode: null,
  reason: "output-refused" as const,
  message: text.slice(0, LIMITS.messageCharacters).toWellFormed(),
});

/** Returns the result in the form that the pool accepts: its texts are masked, and no output contains a secret. */
const checkedResult = async (
  context: Context,
  holder: Holder,
  body: Finish,
): Promise<Omit<FinishReport, "agentId">> => {
  const { status, exitCode = null, reason = null, message } = body;
  const all = status === "succeeded" ? Object.entries(body.outputs ?? {}) : [];
  // Masking each text takes time. If the outputs are too large, the message therefore shows only the last name.
  const isTooLarge = new TextEncoder().encode(all.flat().join("")).length > LIMITS.outputBytes;
  const outputs = isTooLarge ? [[all.at(-1)![0], ""] as const] : all;
  const texts = [...outputs.flat(), ...(message ? [message] : [])];
  const maskedTexts = await maskedAtEnd(context, holder, texts);
  const result = { ...holder, status, exitCode, reason, message: (message && maskedTexts?.at(-1)) || null };
  if (outputs.length === 0 || maskedTexts === null) return result;
  if (isTooLarge) {
    const most = byteSize(LIMITS.outputBytes);
    return { ...holder, ...refusedOutputs(`The outputs exceed ${most}. The last one is ${maskedTexts[0]}.`) };
  }
  const changed = outputs.findIndex(
    ([name, value], at) => maskedTexts[2 * at] !== name || maskedTexts[2 * at + 1] !== value,
  );
  if (changed >= 0) {
    const name = maskedTexts[2 * changed] ?? "";
    return { ...holder, ...refusedOutputs(`The output ${name} contains a secret: pass secrets as variables.`) };
  }
  return { ...result, outputs: Object.fromEntries(outputs) };
};

/**
 * Stores the test results. The job's result is already stored. After a failure here, only the test history lacks this
 * job.
 */
const tellTests = async (context: Context, job: EndedJob, tests: StoredTests): Promise<void> => {
  try {
    await writeTestResults(context, job, tests);
  } catch (error) {
    log.error("tests.write_failed", { orgId: context.orgId, requestId: context.requestId, jobId: job.id, error });
  }
};

/**
 * Reads the log's line about a failure, for lists. If the log is unavailable, the job's result does not wait for the
 * line.
 */
const readFailedLine = async (context: Context, { jobId, fence }: Holder): Promise<string | null> => {
  try {
    const part = await context.objects.pool(context.orgId).failingPart(jobId);
    return await context.objects.log(context.orgId, jobId).failedLine({ fence, ...part });
  } catch (error) {
    log.warn("build.failed_line_unread", { orgId: context.orgId, requestId: context.requestId, jobId, error });
    return null;
  }
};

export const finishBuild = verb({
  access: { agent: true },
  params: PathId,
  body: Finish,
  output: Build,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    const [result, failedLine] = await Promise.all([
      checkedResult(context, holder, body),
      body.status === "failed" ? readFailedLine(context, holder) : null,
    ]);
    const report = { ...result, failedLine };
    const answer = await context.objects.pool(context.orgId).finish(report);
    const build = settled(answer);
    if (answer.tests) await tellTests(context, { id: params.id, key: answer.tests.jobKey, build }, answer.tests);
    return buildRecord(context, build);
  },
});
