import { and, eq } from "drizzle-orm";
import { pipeline, repository } from "../../db/schema.ts";
import { fileWantsPush } from "../../githosts/core/wants.ts";
import { formatMistake, type Mistake, mistakeSentence } from "../../pipeline/mistake.ts";
import type { Includes } from "../../pipeline/parse/included-files.ts";
import { PathId } from "../../protocol/common.ts";
import { PlanAccepted, PlanToAccept } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { PIPELINE_DEFAULTS } from "../../protocol/pipeline.ts";
import type { ClaimedJob } from "../../queue/commands/commands.ts";
import { openRunValues, Uncomposable } from "../builds/run-values.ts";
import type { Context } from "../core/context.ts";
import { isOwn } from "../core/record.ts";
import { Refusal, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { groupsOfPipeline, variablesOfBuild } from "../variables/variable-scopes.ts";
import { attachedGroups, unopenable } from "./build-environment.ts";
import { checkSize, pointerTo, refuseUnused, toKnownFiles } from "./checked-jobs.ts";
import { readHolder } from "./jobs.ts";
import { type PlanSources, planGraph } from "./plan-graph.ts";

type Body = typeof PlanToAccept._zod.output;

const readSources = async (context: Context, claimed: ClaimedJob): Promise<PlanSources> => {
  const { sql } = context.db;
  const ofPipeline = and(eq(pipeline.repoId, claimed.repoId), eq(pipeline.id, claimed.pipelineId ?? ""));
  const [[itsRepository], [itsPipeline], rows, groups] = await context.db.run(
    sql
      .select()
      .from(repository)
      .where(isOwn(context, repository, claimed.repoId)),
    sql.select().from(pipeline).where(ofPipeline),
    variablesOfBuild(sql, context.orgId, claimed.repoId, claimed.pipelineId),
    groupsOfPipeline(sql, context.orgId, claimed.pipelineId),
  );
  if (!itsRepository) throw new Uncomposable("The repository was deleted.");
  if (claimed.pipelineId && !itsPipeline) throw new Uncomposable("The pipeline was deleted.");
  const { secretKeys } = claimed;
  const run = await openRunValues(context, claimed);
  return { repository: itsRepository, pipeline: itsPipeline, rows, groups: attachedGroups(groups), run, secretKeys };
};

/**
 * Reports whether the build may continue. A build that only reads the file may continue if the pipeline leaves its
 * triggers to the file, and if the file wants the push.
 */
const mayGoOn = ({ purpose, build }: ClaimedJob, { pipeline: pipelineRow }: PlanSources, text: string): boolean =>
  purpose !== "read-file" || (pipelineRow?.on === null && fileWantsPush(text, build.branch, null));

const NOT_SENT: Includes = () => ({ problem: "The agent did not send this file with the plan" });

/**
 * Plans the definition in the pipeline's record, whatever the agent sends. Without a definition, plans only the file at
 * the pipeline's path.
 */
const planned = async (context: Context, claimed: ClaimedJob, body: Body, sources: PlanSources) => {
  const { id, number, branch, trigger, event, ref, tag, pull, subject, schedule } = claimed.build;
  const trusted = claimed.build.trust !== "untrusted";
  const { definition, configPath } = sources.pipeline ?? PIPELINE_DEFAULTS;
  if (definition === null && body.path !== configPath)
    throw new Uncomposable("The pipeline's file path has changed: trigger a new build.");
  const text = definition ?? body.text;
  if (!mayGoOn(claimed, sources, text)) throw new Refusal("conflict", "This build only reads the pipeline file.");
  const base = body.base ?? null;
  const files = definition === null ? toKnownFiles(body.includes ?? [], NOT_SENT) : undefined;
  const planText = {
    text,
    path: definition === null ? configPath : null,
    build: {
      id,
      number,
      branch,
      commit: body.commitSha,
      message: subject,
      trigger,
      event,
      ref,
      tag,
      pull,
      base,
      schedule,
      trusted,
    },
    requires: claimed.requires,
    timeoutSeconds: claimed.timeoutSeconds,
    changed: body.changed ?? {},
    ...(files ? { files } : {}),
  };
  const result = await planGraph(context, planText, sources);
  if (files && result.graph) refuseUnused(body.includes ?? [], files);
  return { text, base, configPath, ...result };
};

/** Describes a file's mistakes for people. Cuts the text to the length of a build's message. */
const describeMistakes = (configPath: string, mistakes: Mistake[]): string => {
  const lines = mistakes.map((mistake) => formatMistake(configPath, mistake));
  return lines.join("\n").slice(0, LIMITS.messageCharacters).toWellFormed();
};

const toRefusal = (mistakes: Mistake[], { includes = [] }: Body): Refusal =>
  new Refusal("invalid", "The build failed because its file cannot be planned: see errors.", {
    errors: mistakes.map((mistake) => ({
      pointer: pointerTo(mistake, includes),
      detail: `${mistake.line}:${mistake.column}: ${mistakeSentence(mistake)}`,
    })),
  });

type Planned = Awaited<ReturnType<typeof planned>>;

/** Returns the plan, or a sentence that explains why this build can never be planned. */
const plannedOr = async (context: Context, claimed: ClaimedJob, body: Body): Promise<Planned | string> => {
  try {
    return await planned(context, claimed, body, await readSources(context, claimed));
  } catch (error) {
    const message = unopenable(error);
    if (message === null) throw error;
    return message;
  }
};

/**
 * Accepts a build's file from the agent that read it in the commit, and plans its jobs. A file that cannot be planned
 * ends the build. The same text always gets the same answer.
 */
export const planBuild = verb({
  access: { agent: true },
  params: PathId,
  body: PlanToAccept,
  output: PlanAccepted,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    checkSize(body.text, body.includes);
    const pool = context.objects.pool(context.orgId);
    const claimed = settled(await pool.granted(holder));
    if (claimed.job) throw new Refusal("conflict", "The build's jobs are already planned.");
    const plan = await plannedOr(context, claimed, body);
    if (typeof plan !== "string" && plan.graph) {
      const { graph, text, base } = plan;
      return settled(await pool.plan({ ...holder, graph, text, base }));
    }
    const message = typeof plan === "string" ? plan : describeMistakes(plan.configPath, plan.mistakes);
    settled(await pool.refusePlan({ ...holder, reason: "pipeline-invalid", message }));
    throw typeof plan === "string" ? new Refusal("invalid", plan) : toRefusal(plan.mistakes, body);
  },
});
