import { PathId } from "../../protocol/common.ts";
import { EnvironmentRequest, HandedEnvironment } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { Uncomposable } from "../builds/run-values.ts";
import type { Context } from "../core/context.ts";
import { Refusal, settled } from "../core/refusal.ts";
import { Answer, verb } from "../core/verb.ts";
import { composeFor, deliveredKeys, handedEnvironment, listSecrets, unopenable } from "../jobs/build-environment.ts";
import { type Holder, readHolder, stepsOfTexts, textsOfSteps } from "../jobs/jobs.ts";
import { groupsOfPipeline, variablesOfBuild } from "./variable-scopes.ts";

/**
 * Composes and stores the environment before returning it. The log then masks its secrets, and the pool has its audit
 * entry and the agent's findings.
 */
const compose = async (context: Context, holder: Holder, body: typeof EnvironmentRequest._zod.output) => {
  const { steps = [], ...found } = body;
  const reported = steps.slice(0, LIMITS.steps);
  const { jobId, fence, tokenHash } = holder;
  const pool = context.objects.pool(context.orgId);
  const { agentId, ...claimed } = settled(await pool.granted(holder));
  const { sql } = context.db;
  const [rows, groups] = await context.db.run(
    variablesOfBuild(sql, context.orgId, claimed.repoId, claimed.pipelineId),
    groupsOfPipeline(sql, context.orgId, claimed.pipelineId),
  );
  const entries = await composeFor(context, claimed, { rows, groups });
  const masks = { fence, tokenHash, values: listSecrets(entries), texts: textsOfSteps(reported) };
  const added = await context.objects.log(context.orgId, jobId).addMasks(masks);
  if (!added.ok && added.refusal.kind === "too-large")
    throw new Uncomposable("The environment has too many values to mask.");
  const texts = settled(added);
  const masked = reported.length > 0 ? stepsOfTexts(reported, texts) : undefined;
  const { requestId } = context;
  const delivery = { jobId, fence, agentId, ...deliveredKeys(entries), ...found, steps: masked, requestId };
  const delivered = await pool.deliver(delivery);
  // If somebody canceled the build meanwhile, the refusal is another one.
  if (!delivered.ok) settled(await pool.granted(holder));
  settled(delivered);
  return entries;
};

/**
 * Hands out a build's environment after the agent has read the file. Until the agent has read the file, it has no part
 * of the environment.
 */
export const getEnvironment = verb({
  access: { agent: true },
  params: PathId,
  body: EnvironmentRequest,
  output: HandedEnvironment,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    try {
      return new Answer(handedEnvironment(await compose(context, holder, body)), { isSecret: true });
    } catch (error) {
      const message = unopenable(error);
      if (message === null) throw error;
      const failure = { status: "failed", exitCode: null, reason: "environment", message } as const;
      settled(await context.objects.pool(context.orgId).finish({ ...holder, ...failure }));
      throw new Refusal("lease-lost", `The build has failed. ${message}`);
    }
  },
});
