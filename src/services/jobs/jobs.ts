import { Build, type Step } from "../../protocol/build.ts";
import { PathId } from "../../protocol/common.ts";
import { Heartbeat, LEASE_HEADER, Progress, Release } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { checkOwnPath } from "../agents/agents.ts";
import { buildRecord } from "../builds/build-view.ts";
import type { Context } from "../core/context.ts";
import { invalid, Refusal, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";

/**
 * Reads the lease that the caller claims to hold. The pool and the log check the claim by the agent's token.
 * @throws Refusal forbidden if the caller is not an agent, or invalid without the lease's header
 */
export const readHolder = async (context: Context, jobId: string) => {
  const { kind, tokenHash } = context.caller;
  if (kind !== "agent") {
    await context.admit();
    throw new Refusal("forbidden", "This requires an agent's own token.");
  }
  const { lease } = context.headers;
  if (lease === null) throw invalid(LEASE_HEADER, "this header must name the lease");
  return { tokenHash, jobId, fence: lease };
};

/** The caller, by its token, with its job. */
export type Holder = Awaited<ReturnType<typeof readHolder>>;

export const startBuild = verb({
  access: { agent: true },
  params: PathId,
  output: Build,
  async run(context, { params }) {
    const holder = await readHolder(context, params.id);
    return buildRecord(context, settled(await context.objects.pool(context.orgId).start(holder)));
  },
});

/** Returns an agent's texts with the job's secrets masked, as in the job's log. */
export const masked = async (context: Context, jobId: string, fence: number, texts: string[]): Promise<string[]> => {
  if (texts.length === 0) return [];
  const { tokenHash } = context.caller;
  return settled(await context.objects.log(context.orgId, jobId).maskTexts({ fence, tokenHash, texts }));
};

type RepeatedSteps = Holder & Pick<Progress, "commitSha" | "base"> & { steps: Step[] };

/** Reports whether the pool accepted the steps unchanged, because the log masked their names and ids earlier. */
const areRepeated = async (context: Context, report: RepeatedSteps): Promise<boolean> => {
  // Until a step has ended, most reports are the first report of their attempt.
  if (report.steps.every(({ finishedAt }) => finishedAt === null)) return false;
  return settled(await context.objects.pool(context.orgId).repeatSteps(report));
};

export const reportProgress = verb({
  access: { agent: true },
  params: PathId,
  body: Progress,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    const { jobId, fence, tokenHash } = holder;
    const { commitSha, base, masks = [] } = body;
    const reported = body.steps?.slice(0, LIMITS.steps) ?? [];
    if (masks.length > 0)
      settled(await context.objects.log(context.orgId, jobId).addMasks({ fence, tokenHash, values: masks }));
    else if (
      body.summary === undefined &&
      (await areRepeated(context, { ...holder, commitSha, base, steps: reported }))
    )
      return;
    const ofSummary = body.summary === undefined ? [] : [body.summary];
    const texts = await masked(context, jobId, fence, [...textsOfSteps(reported), ...ofSummary]);
    const steps = body.steps && stepsOfTexts(reported, texts);
    const summary = body.summary === undefined ? undefined : texts.at(-1);
    const report = { ...holder, commitSha, base, steps, summary, masksCame: masks.length > 0 };
    settled(await context.objects.pool(context.orgId).progress(report));
  },
});

export const releaseBuild = verb({
  access: { agent: true },
  params: PathId,
  body: Release,
  output: Build,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    const { requires, elsewhere, interrupted } = body;
    const [reason = ""] = await masked(context, params.id, holder.fence, [body.reason]);
    const pool = context.objects.pool(context.orgId);
    return buildRecord(context, settled(await pool.release({ ...holder, reason, requires, elsewhere, interrupted })));
  },
});

export const heartbeat = verb({
  access: { agent: true },
  params: PathId,
  output: Heartbeat,
  async run(context, { params }) {
    const { tokenHash, kind } = context.caller;
    if (kind !== "agent") await context.admit();
    const call = { agentId: params.id, tokenHash, bootId: context.headers.bootId, fence: context.headers.lease };
    const answer = await context.objects.pool(context.orgId).heartbeat(call);
    if (!answer.ok && answer.refusal.kind === "unauthenticated") await checkOwnPath(context, params.id);
    return settled(answer);
  },
});

/** Returns the texts of reported steps that may hold a secret, in an order that `stepsOfTexts` knows. */
export const textsOfSteps = (steps: Step[]): string[] => steps.flatMap(({ id, name }) => [name, id ?? ""]);

const cut = (text = ""): string => text.slice(0, LIMITS.stepNameCharacters).toWellFormed();

/** Returns the steps with these masked texts. Cuts the texts to the lengths that a build's record may hold. */
export const stepsOfTexts = (steps: Step[], texts: string[]): Step[] =>
  steps.map((step, index) => ({
    ...step,
    name: cut(texts[2 * index]),
    id: step.id === null ? null : cut(texts[2 * index + 1]),
  }));
