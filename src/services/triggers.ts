import { and, eq } from "drizzle-orm";
import type * as z from "zod";
import { hashToken } from "../crypto/token.ts";
import { pipeline, repository } from "../db/schema.ts";
import { overridesRefused } from "../domain/compose.ts";
import { refusedInRun } from "../domain/env-names.ts";
import { branchProblem } from "../domain/git-ref.ts";
import { mergeRequires } from "../domain/requires.ts";
import { Build, BuildTrigger, RepositoryTrigger } from "../protocol/build.ts";
import { PathId } from "../protocol/common.ts";
import { actorOf } from "./agents.ts";
import type { Context } from "./context.ts";
import { type FieldError, invalid, notFound, Refusal, settled } from "./refusal.ts";
import { variablesOfBuild } from "./scopes.ts";
import { verb } from "./verb.ts";

type Trigger = z.output<typeof BuildTrigger>;
const ENVIRONMENT_LIMIT = 256 * 1024;

/** What a run's own values are bound to while they are kept. */
export const inputsContext = (orgId: string, buildId: string) => ["inputs", orgId, buildId];

/** The repository and pipeline a trigger means. @throws Refusal naming the field at fault */
const resolve = async (context: Context, trigger: Trigger) => {
  const { repoId, pipelineId } = trigger;
  if (!repoId && !pipelineId) {
    await context.admit();
    throw invalid("/repoId", "or pipelineId is required");
  }
  const chosen = pipelineId ? eq(pipeline.id, pipelineId) : eq(pipeline.id, repository.defaultPipelineId);
  const wanted = and(
    eq(repository.orgId, context.orgId),
    pipelineId ? eq(pipeline.id, pipelineId) : undefined,
    repoId ? eq(repository.id, repoId) : undefined,
  );
  const query = context.db.sql
    .select({ repository, pipeline })
    .from(repository)
    .leftJoin(pipeline, and(eq(pipeline.repoId, repository.id), chosen))
    .where(wanted);
  const [[found]] = await context.db.run(query);
  if (!found) throw invalid(pipelineId ? "/pipelineId" : "/repoId", "is not one of this organization and repository");
  if (!found.repository.isActive) throw new Refusal("conflict", "The repository is not active.");
  if (found.pipeline && !found.pipeline.isActive) throw new Refusal("conflict", "The pipeline is not active.");
  return found;
};

/** @throws Refusal naming each key of the run that may not be set */
const checkOverrides = async (context: Context, trigger: Trigger, repoId: string, pipelineId: string | null) => {
  const run = trigger.envVariables ?? {};
  const keys = Object.keys(run);
  const errors: FieldError[] = keys.filter(refusedInRun).map((key) => ({
    pointer: `/envVariables/${key}`,
    detail: "could run code before a step does: set it as a variable",
  }));
  if (keys.length > 0) {
    const [rows] = await context.db.run(variablesOfBuild(context.db.sql, context.orgId, repoId, pipelineId));
    for (const key of overridesRefused(rows, run)) {
      errors.push({ pointer: `/envVariables/${key}`, detail: "is a variable that a run may not override" });
    }
  }
  if (errors.length > 0) throw new Refusal("invalid", "The request is not valid: see errors.", { errors });
  if (new TextEncoder().encode(JSON.stringify(run)).length > ENVIRONMENT_LIMIT) {
    throw new Refusal("too-large", "The overrides of a run may have at most 256 KiB.");
  }
};

/** The same caller, key and request within a day mean the same build. */
const idempotencyOf = async (context: Context, wanted: object) => {
  const { idempotencyKey: key, caller } = context;
  return key === null ? null : { key, caller: caller.tokenHash, bodyHash: await hashToken(JSON.stringify(wanted)) };
};

const trigger = async (context: Context, wanted: Trigger, retryOf: string | null = null): Promise<Build> => {
  const found = await resolve(context, wanted);
  const problem = branchProblem(wanted.branch);
  if (problem) throw invalid("/branch", problem);
  const pipelineId = found.pipeline?.id ?? null;
  await checkOverrides(context, wanted, found.repository.id, pipelineId);
  const requires = mergeRequires(found.pipeline?.requires ?? {}, { labels: wanted.labels ?? [] });
  if (!requires) throw invalid("/labels", "contradict what the pipeline requires");
  const id = context.newId();
  const run = wanted.envVariables ?? {};
  const inputs =
    Object.keys(run).length > 0
      ? await context.keyring.seal(JSON.stringify(run), inputsContext(context.orgId, id))
      : null;
  const pool = await context.pool();
  return settled(
    await pool.enqueue({
      ...{ id, orgId: context.orgId, repoId: found.repository.id, pipelineId, inputs, retryOf, requires },
      ...{
        pipelineVersion: found.pipeline?.version ?? null,
        branch: wanted.branch,
        commitSha: wanted.commitSha ?? null,
      },
      ...{ trigger: retryOf ? "retry" : "api", priority: wanted.priority ?? 0, secretKeys: wanted.secretKeys ?? [] },
      ...{ timeoutSeconds: found.pipeline?.timeoutSeconds ?? 3600, maxParallel: found.pipeline?.maxParallel ?? null },
      ...{
        maxAttempts: found.pipeline?.maxAttempts ?? 2,
        idempotency: await idempotencyOf(context, wanted),
        actor: actorOf(context),
      },
    }),
  );
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
  async run(context, { params, body }) {
    const known = context.db.sql.select({ id: repository.id }).from(repository);
    const mine = and(eq(repository.orgId, context.orgId), eq(repository.id, params.id));
    const [[found]] = await context.db.run(known.where(mine));
    if (!found) throw notFound();
    return trigger(context, { ...body, repoId: params.id });
  },
});
