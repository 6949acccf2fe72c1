import { and, eq, inArray } from "drizzle-orm";
import type * as z from "zod/mini";
import { pipeline, repository } from "../db/schema.ts";
import { overridesRefused } from "../domain/compose.ts";
import { refusedInRun } from "../domain/env-names.ts";
import { branchProblem } from "../domain/git-ref.ts";
import { mergeRequires } from "../domain/requires.ts";
import { inputsContext } from "../domain/seal-context.ts";
import { Build, BuildTrigger, RepositoryTrigger } from "../protocol/build.ts";
import { isEnded } from "../protocol/build-states.ts";
import { PathId } from "../protocol/common.ts";
import { byteSize, LIMITS } from "../protocol/limits.ts";
import { PIPELINE_DEFAULTS } from "../protocol/pipeline.ts";
import { actorOf } from "./agents.ts";
import { answered, findBuild } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { type FieldError, invalid, invalidFields, notFound, Refusal, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { variablesOfBuild } from "./variable-scopes.ts";

type Trigger = z.output<typeof BuildTrigger>;

type Variables = Parameters<typeof overridesRefused>[0];

interface Origin {
  /** The build that is retried. */
  retryOf?: string;
  /** The repository was named by the path: an unknown one is a path to nothing. */
  isPath?: true;
}

/** The repository and pipeline a trigger means, and the variables that its own values would override. @throws Refusal naming the field at fault */
const resolve = async (context: Context, trigger: Trigger, { isPath }: Origin) => {
  const { repoId, pipelineId } = trigger;
  if (!repoId && !pipelineId) {
    await context.admit();
    throw invalid("/repoId", "or pipelineId is required");
  }
  const { sql: db } = context.db;
  const { orgId } = context;
  const ownerOfPipeline = db
    .select({ id: pipeline.repoId })
    .from(pipeline)
    .where(eq(pipeline.id, pipelineId ?? ""));
  const defaultOfRepository = db
    .select({ id: repository.defaultPipelineId })
    .from(repository)
    .where(eq(repository.id, repoId ?? ""));
  const overrides = Object.keys(trigger.envVariables ?? {}).length > 0;
  const [[ofRepository], [ofPipeline], variables] = await context.db.run(
    db
      .select()
      .from(repository)
      .where(
        and(eq(repository.orgId, orgId), repoId ? eq(repository.id, repoId) : inArray(repository.id, ownerOfPipeline)),
      ),
    db
      .select()
      .from(pipeline)
      .where(
        and(
          eq(pipeline.orgId, orgId),
          pipelineId ? eq(pipeline.id, pipelineId) : inArray(pipeline.id, defaultOfRepository),
        ),
      ),
    overrides
      ? variablesOfBuild(db, orgId, repoId ?? ownerOfPipeline, pipelineId ?? defaultOfRepository)
      : variablesOfBuild(db, orgId, null, null).limit(0),
  );
  if (!ofRepository && isPath) throw notFound();
  if (!ofRepository) throw invalid(repoId ? "/repoId" : "/pipelineId", "is not one of this organization");
  if (pipelineId && ofPipeline?.repoId !== ofRepository.id) {
    throw invalid("/pipelineId", "is not a pipeline of this organization and repository");
  }
  const found = { repository: ofRepository, pipeline: ofPipeline, variables };
  if (!found.repository.isActive) throw new Refusal("conflict", "The repository is not active.");
  if (found.pipeline && !found.pipeline.isActive) throw new Refusal("conflict", "The pipeline is not active.");
  return found;
};

/** @throws Refusal naming each key of the run that may not be set */
const checkOverrides = (run: Record<string, string>, variables: Variables): void => {
  const errors: FieldError[] = Object.keys(run)
    .filter(refusedInRun)
    .map((key) => ({
      pointer: `/envVariables/${key}`,
      detail: "could run code before a step does: set it as a variable",
    }));
  for (const key of overridesRefused(variables, run)) {
    errors.push({ pointer: `/envVariables/${key}`, detail: "is a variable that a run may not override" });
  }
  if (errors.length > 0) throw invalidFields(errors);
  if (new TextEncoder().encode(JSON.stringify(run)).length > LIMITS.envVariablesBytes) {
    throw new Refusal(
      "too-large",
      `The \`envVariables\` of a build may have at most ${byteSize(LIMITS.envVariablesBytes)}.`,
    );
  }
};

/** The same caller, key and request within a day mean the same build. */
const idempotencyOf = async (context: Context, wanted: object) => {
  const { idempotencyKey: key, admitted, mint } = context;
  return key === null
    ? null
    : { key, caller: admitted.actor, bodyHash: await mint.fingerprint(JSON.stringify(wanted)) };
};

const trigger = async (context: Context, wanted: Trigger, origin: Origin = {}): Promise<Build> => {
  const { retryOf = null } = origin;
  const found = await resolve(context, wanted, origin);
  const branch = wanted.branch ?? found.repository.defaultBranch;
  const problem = branchProblem(branch);
  if (problem) throw invalid("/branch", problem);
  const pipelineId = found.pipeline?.id ?? null;
  const { timeoutSeconds, maxParallel, maxAttempts } = found.pipeline ?? PIPELINE_DEFAULTS;
  const run = wanted.envVariables ?? {};
  checkOverrides(run, found.variables);
  const requires = mergeRequires(found.pipeline?.requires ?? {}, { labels: wanted.labels ?? [] });
  if (!requires) throw invalid("/labels", "contradict what the pipeline requires");
  const id = context.newId();
  const inputs =
    Object.keys(run).length > 0
      ? await (await context.keyring()).seal(JSON.stringify(run), inputsContext(context.orgId, id))
      : null;
  const pool = await context.pool();
  const { token } = context.admitted;
  const build = settled(
    await pool.enqueue({
      ...{ id, orgId: context.orgId, repoId: found.repository.id, pipelineId, inputs, retryOf, requires },
      ...{
        pipelineVersion: found.pipeline?.version ?? null,
        branch,
        commitSha: wanted.commitSha ?? null,
      },
      ...{ trigger: retryOf ? "retry" : "api", priority: wanted.priority ?? 0, secretKeys: wanted.secretKeys ?? [] },
      timeoutSeconds,
      maxParallel,
      ...{
        maxAttempts,
        idempotency: await idempotencyOf(context, { ...wanted, retryOf }),
        actor: actorOf(context),
      },
      createdBy: token && { kind: "token", id: token.id, name: token.name },
    }),
  );
  return answered(context, build);
};

/** What the run of an earlier build was given. @throws Refusal conflict once nobody remembers it */
const inputsOf = async (context: Context, build: Build): Promise<Trigger> => {
  const kept = await (await context.pool()).inputsOf(build.id);
  if (!kept.ok) throw new Refusal("conflict", "What this run was given is not kept any more: trigger a new build.");
  const { inputs, secretKeys, requires, priority } = kept.value;
  const text = inputs && (await context.open(inputs, inputsContext(context.orgId, build.id)));
  return {
    ...{ repoId: build.repoId, pipelineId: build.pipelineId, branch: build.branch, commitSha: build.commitSha },
    ...{ envVariables: text ? JSON.parse(text) : {}, secretKeys, priority, labels: requires.labels ?? [] },
  };
};

export const retryBuild = verb({
  access: { role: "member" },
  params: PathId,
  output: Build,
  async run(context, { params }) {
    const build = await findBuild(context, params.id);
    if (!isEnded(build.status)) {
      throw new Refusal("conflict", "The build has not ended: cancel it first, or wait.");
    }
    return trigger(context, await inputsOf(context, build), { retryOf: build.id });
  },
});

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
