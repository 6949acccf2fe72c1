import { and, eq, getTableColumns, inArray, type Placeholder, sql } from "drizzle-orm";
import type * as z from "zod/mini";
import { compiled } from "../../db/compiled.ts";
import type { Database } from "../../db/query.ts";
import { pipeline, repository } from "../../db/schema.ts";
import { branchProblem, refOf, tagOf } from "../../domain/git-ref.ts";
import { mergeRequires, NO_WINDOWS } from "../../domain/requires.ts";
import { type BuildOrigin, chooseHostTarget } from "../../githosts/core/build-origin.ts";
import { readsBuildNumber } from "../../pipeline/graph/questions.ts";
import { parsePlan } from "../../pipeline/parse/parse.ts";
import { planToExpand } from "../../pipeline/parse/plan-contents.ts";
import { Build, BuildTrigger, RepositoryTrigger, type Trust } from "../../protocol/build.ts";
import { PathId } from "../../protocol/common.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { PIPELINE_DEFAULTS, type Requires } from "../../protocol/pipeline.ts";
import type { NewPlan } from "../../queue/commands/commands.ts";
import { actorOf, type Context } from "../core/context.ts";
import { invalid, notFound, Refusal, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { attachedGroups, unopenable } from "../jobs/build-environment.ts";
import { planGraph } from "../jobs/plan-graph.ts";
import { groupsOfPipeline, variablesOfBuild } from "../variables/variable-scopes.ts";
import { buildRecord } from "./build-view.ts";
import { checkRunVariables, sealRun } from "./run-values.ts";

interface Target {
  repository: typeof repository.$inferSelect;
  pipeline: typeof pipeline.$inferSelect | undefined;
}

type Asked = BuildTrigger & {
  id: string;
  branch: string;
  requires: Requires;
  timeoutSeconds: number;
  madeBy: BuildOrigin | null;
  isRetry: boolean;
  trust: Trust;
};

/**
 * Plans the jobs at once if the pipeline's record has the definition and the request names a commit: no agent then has
 * to read the definition. Returns null if an agent has to read it, as for every untrusted build. The agent also reports
 * the errors in a definition.
 */
const plannedAtTrigger = async (context: Context, target: Target, request: Asked): Promise<NewPlan | null> => {
  const definition = target.pipeline?.definition ?? null;
  const { id, branch, commitSha, requires, timeoutSeconds, madeBy, isRetry, trust } = request;
  if (trust === "untrusted" || definition === null || !commitSha) return null;
  const plan = planToExpand(parsePlan(definition).plan);
  // Only the pool knows a new build's number. If the jobs can read the number, an agent plans them.
  if (!plan || readsBuildNumber(plan)) return null;
  const { sql } = context.db;
  const pipelineId = target.pipeline?.id ?? null;
  const [rows, groups] = await context.db.run(
    variablesOfBuild(sql, context.orgId, target.repository.id, pipelineId),
    groupsOfPipeline(sql, context.orgId, pipelineId),
  );
  const run = { run: request.envVariables ?? {}, secretKeys: request.secretKeys ?? [] };
  const planText = {
    text: definition,
    path: null,
    requires,
    timeoutSeconds,
    changed: {},
    build: {
      id,
      number: 0,
      branch,
      commit: commitSha,
      message: madeBy?.commit?.subject ?? null,
      trigger: isRetry ? "retry" : "api",
      event: madeBy?.event ?? "api",
      ref: refOf(branch),
      tag: tagOf(branch),
      pull: null,
      base: null,
      schedule: madeBy?.schedule ?? null,
      trusted: true,
    },
  };
  try {
    const sources = { ...target, rows, groups: attachedGroups(groups), ...run };
    const { graph } = await planGraph(context, planText, sources);
    return graph ? { graph, text: definition, adopted: {} } : null;
  } catch (error) {
    if (unopenable(error) !== null) return null;
    throw error;
  }
};

export type Trigger = z.output<typeof BuildTrigger>;

/** A build that a person requested at the git host. */
export interface AskedElsewhere {
  sender: string;
  connection: { id: string; name: string };
  /** The key that identifies the request. A repeated request returns the same build. */
  key: string;
}

interface Origin {
  /** The id of the build to retry. */
  retryOf?: string;
  /** The origin of the build to retry. */
  madeBy?: BuildOrigin | null;
  /** The trust of the build to retry. */
  trust?: Trust;
  /** The jobs to retry, with the results of the other jobs. */
  planned?: NewPlan;
  /** The person's request at the git host; absent for a caller of the API. */
  asked?: AskedElsewhere;
  /** Whether the path names the repository. An unknown repository is then 404 instead of an invalid field. */
  isPath?: true;
}

type Id = string | Placeholder;

const ownerOf = (db: Database, pipelineId: Id) =>
  db.select({ id: pipeline.repoId }).from(pipeline).where(eq(pipeline.id, pipelineId));

const defaultOf = (db: Database, repoId: Id) =>
  db.select({ id: repository.defaultPipelineId }).from(repository).where(eq(repository.id, repoId));

const ORGANIZATION = sql.placeholder("orgId");
const REPOSITORY = sql.placeholder("repoId");
const PIPELINE = sql.placeholder("pipelineId");

/** Finds the trigger's repository, or the repository of the trigger's pipeline. */
const repositoryRows = compiled(getTableColumns(repository), (db, named) => {
  const isMeant = named.includes("repoId")
    ? eq(repository.id, REPOSITORY)
    : inArray(repository.id, ownerOf(db, PIPELINE));
  return db
    .select()
    .from(repository)
    .where(and(eq(repository.orgId, ORGANIZATION), isMeant));
});

/** Finds the trigger's pipeline, or the default pipeline of the trigger's repository. */
const pipelineRows = compiled(getTableColumns(pipeline), (db, named) => {
  const isMeant = named.includes("pipelineId")
    ? eq(pipeline.id, PIPELINE)
    : inArray(pipeline.id, defaultOf(db, REPOSITORY));
  return db
    .select()
    .from(pipeline)
    .where(and(eq(pipeline.orgId, ORGANIZATION), isMeant));
});

/** Finds the active variables that the trigger's overrides could replace. */
const readReplaced = async ({ db, orgId }: Context, { repoId, pipelineId, envVariables }: Trigger) => {
  if (Object.keys(envVariables ?? {}).length === 0) return [];
  const owner = repoId ?? ownerOf(db.sql, pipelineId ?? "");
  const chosen = pipelineId ?? defaultOf(db.sql, repoId ?? "");
  const [rows] = await db.run(variablesOfBuild(db.sql, orgId, owner, chosen));
  return rows;
};

/** Reads the trigger's repository and pipeline, and the variables that its overrides could replace, in one batch. */
const readTarget = async (context: Context, trigger: Trigger) => {
  const { db, orgId } = context;
  const { repoId, pipelineId } = trigger;
  const values = { orgId, repoId, pipelineId };
  const named = [...(repoId ? ["repoId"] : []), ...(pipelineId ? ["pipelineId"] : [])];
  const [[[ofRepository], [ofPipeline]], variables] = await Promise.all([
    db.run(db.bind(repositoryRows, values, named), db.bind(pipelineRows, values, named)),
    readReplaced(context, trigger),
  ]);
  return { ofRepository, ofPipeline, variables };
};

/**
 * Finds the target.
 * @throws Refusal not-found, invalid naming the field, or conflict if the repository or pipeline is not active
 */
const findTarget = async (context: Context, trigger: Trigger, { isPath }: Origin) => {
  const { repoId, pipelineId } = trigger;
  if (!repoId && !pipelineId) {
    await context.admit();
    throw invalid("/repoId", "is required unless pipelineId is sent");
  }
  const { ofRepository, ofPipeline, variables } = await readTarget(context, trigger);
  if (!ofRepository && isPath) throw notFound();
  if (!ofRepository) throw invalid(repoId ? "/repoId" : "/pipelineId", "does not exist in this organization");
  if (pipelineId && ofPipeline?.repoId !== ofRepository.id) {
    throw invalid("/pipelineId", "is not a pipeline in this organization and repository");
  }
  if (!ofRepository.isActive) throw new Refusal("conflict", "The repository is not active.");
  if (ofPipeline && !ofPipeline.isActive) throw new Refusal("conflict", "The pipeline is not active.");
  return { repository: ofRepository, pipeline: ofPipeline, variables };
};

/**
 * Creates the key by which the pool recognizes a repeated request. The key consists of the caller and the request's
 * own key. If the same pair arrives with another body, that is a conflict.
 */
const fingerprintRequest = async (context: Context, request: object, key: string | null) => {
  if (key === null) return null;
  const bodyHash = await context.keys.mint.fingerprint(JSON.stringify(request));
  return { key, caller: context.admitted.actor, bodyHash };
};

const toCreator = ({ admitted: { token } }: Context, elsewhere: AskedElsewhere | undefined) => {
  if (elsewhere) return { kind: "connection", ...elsewhere.connection };
  return token && { kind: "token", id: token.id, name: token.name };
};

/** Creates a build. @throws Refusal if its target does not exist, or if the pool rejects it */
export const trigger = async (context: Context, body: Trigger, origin: Origin = {}): Promise<Build> => {
  const { retryOf = null, madeBy = null, trust = "trusted" } = origin;
  const target = await findTarget(context, body, origin);
  const branch = body.branch ?? target.repository.defaultBranch;
  const problem = branchProblem(branch);
  if (problem) throw invalid("/branch", problem);
  const { timeoutSeconds, maxParallel, maxAttempts } = target.pipeline ?? PIPELINE_DEFAULTS;
  const run = body.envVariables ?? {};
  checkRunVariables(run, target.variables, LIMITS.envVariablesBytes);
  const requires = mergeRequires(target.pipeline?.requires ?? {}, { labels: body.labels ?? [] });
  if (!requires) throw invalid("/labels", "conflict with the pipeline's requirements");
  if (requires.platform === "windows") throw new Refusal("conflict", NO_WINDOWS);
  const id = context.newId();
  const inputs = await sealRun(context, id, run, trust);
  const request = { ...body, branch, id, requires, timeoutSeconds, madeBy, isRetry: retryOf !== null, trust };
  const planned = origin.planned ?? (await plannedAtTrigger(context, target, request));
  const pool = await context.pool();
  const { asked: elsewhere } = origin;
  const key = elsewhere?.key ?? context.headers.idempotencyKey;
  const build = settled(
    await pool.enqueue({
      id,
      orgId: context.orgId,
      repoId: target.repository.id,
      pipelineId: target.pipeline?.id ?? null,
      pipelineVersion: target.pipeline?.version ?? null,
      branch,
      commitSha: body.commitSha ?? null,
      trigger: retryOf ? "retry" : "api",
      priority: body.priority ?? 0,
      requires,
      timeoutSeconds,
      maxParallel,
      maxAttempts,
      inputs,
      secretKeys: body.secretKeys ?? [],
      retryOf,
      ...(trust === "untrusted" && { trust, needsApproval: true }),
      origin: madeBy,
      host: chooseHostTarget(target.repository, target.pipeline, madeBy?.event ?? "api", context.origin),
      idempotency: await fingerprintRequest(
        context,
        { ...body, retryOf, ...(origin.planned ? { only: "failed" } : {}) },
        key,
      ),
      planned,
      actor: { ...actorOf(context), ...(elsewhere && { sender: elsewhere.sender }) },
      createdBy: toCreator(context, elsewhere),
    }),
  );
  return buildRecord(context, build);
};

export const triggerBuild = verb({
  access: { role: "member" },
  body: BuildTrigger,
  output: Build,
  run: (context, { body }) => trigger(context, body),
});

export const triggerRepositoryBuild = verb({
  access: { role: "member" },
  params: PathId,
  body: RepositoryTrigger,
  output: Build,
  run: (context, { params, body }) => trigger(context, { ...body, repoId: params.id }, { isPath: true }),
});
