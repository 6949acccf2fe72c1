import { and, eq } from "drizzle-orm";
import { credential, pipeline, repository } from "../db/schema.ts";
import { type ComposedEntry, compose, EnvironmentTooLarge } from "../domain/compose.ts";
import type { Grant } from "../domain/pool/commands.ts";
import { credentialContext, inputsContext, variableContext } from "../domain/seal-context.ts";
import type { Job } from "../protocol/jobs.ts";
import { PIPELINE_DEFAULTS } from "../protocol/pipeline.ts";
import { answered } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { Refusal, settled } from "./core/refusal.ts";
import { Damaged } from "./core/sealing.ts";
import type { CredentialRow } from "./credentials.ts";
import { scoped } from "./environment-preview.ts";
import { refuseForeignPath } from "./jobs.ts";
import { groupIdsOf } from "./pipelines.ts";
import { groupsOfPipeline, variablesOfBuild } from "./variable-scopes.ts";

const RETRY_AFTER_SECONDS = 5;

/** The environment can never be composed as things stand: the build fails, and says this. */
class Uncomposable extends Error {
  override name = "Uncomposable";
}

/** Step 2: what the build draws from, read at the primary. */
const read = async (context: Context, grant: Grant) => {
  const { sql } = context.db;
  const ofRepository = and(eq(repository.orgId, context.orgId), eq(repository.id, grant.repoId));
  const ofPipeline = and(eq(pipeline.repoId, grant.repoId), eq(pipeline.id, grant.pipelineId ?? ""));
  const [[foundRepository], [foundPipeline], rows, [sealedCredential], groups] = await context.db.run(
    sql.select().from(repository).where(ofRepository),
    sql.select({ pipeline, groups: groupIdsOf }).from(pipeline).where(ofPipeline),
    variablesOfBuild(sql, context.orgId, grant.repoId, grant.pipelineId),
    sql.select().from(credential).where(eq(credential.repoId, grant.repoId)),
    groupsOfPipeline(sql, context.orgId, grant.pipelineId),
  );
  if (!foundRepository) throw new Uncomposable("The repository is gone.");
  if (grant.pipelineId && !foundPipeline) throw new Uncomposable("The pipeline is gone.");
  if (groups.length < JSON.parse(foundPipeline?.groups ?? "[]").length) throw new Uncomposable("A group is gone.");
  return { repository: foundRepository, ...foundPipeline, rows, sealedCredential };
};

/** Step 3: opens every value, or nothing is handed out. */
const composed = async (context: Context, grant: Grant, read_: Awaited<ReturnType<typeof read>>) => {
  const variables = await Promise.all(
    read_.rows.map(async (row) =>
      scoped(row, row.isSecret ? await context.open(row.sealed ?? "", variableContext(row)) : (row.value ?? "")),
    ),
  );
  const run: Record<string, string> = grant.inputs
    ? JSON.parse(await context.open(grant.inputs, inputsContext(context.orgId, grant.buildId)))
    : {};
  const groupIds: string[] = JSON.parse(read_.groups ?? "[]");
  return compose({ variables, groupIds, run, secretKeys: grant.secretKeys }, "trusted");
};

/** The clone credential, opened for this answer alone. */
const credentialOf = async (
  context: Context,
  row: CredentialRow | undefined,
  cloneUrl: string,
): Promise<Job["repository"]["credential"]> => {
  if (!row) return null;
  const value = await context.open(row.sealed, credentialContext(row, cloneUrl));
  return { kind: row.kind, username: row.username, value };
};

const jobOf = (grant: Grant, found: Awaited<ReturnType<typeof read>>, entries: ComposedEntry[]) => ({
  lease: grant.fence,
  repository: { fullName: found.repository.fullName, cloneUrl: found.repository.cloneUrl },
  pipeline: {
    name: found.pipeline?.name ?? found.repository.fullName,
    configPath: (found.pipeline ?? PIPELINE_DEFAULTS).configPath,
    definition: (found.pipeline ?? PIPELINE_DEFAULTS).definition,
  },
  env: Object.fromEntries(entries.map(({ key, value }) => [key, value])),
  secretKeys: entries.filter((entry) => entry.isSecret).map((entry) => entry.key),
  runKeys: entries.filter((entry) => entry.scope === "run").map((entry) => entry.key),
  requires: grant.requires,
  timeoutSeconds: grant.timeoutSeconds,
  mayGoElsewhere: grant.mayGoElsewhere,
});

/** Steps 2 to 6 for a lease that was granted. Whatever fails, either the build waits again or it fails and says why. */
const deliver = async (context: Context, agentId: string, grant: Grant): Promise<Job> => {
  const { buildId, fence } = grant;
  const pool = context.poolOf(context.orgId);
  const found = await read(context, grant);
  const entries = await composed(context, grant, found);
  const credential = await credentialOf(context, found.sealedCredential, found.repository.cloneUrl);
  const secrets = entries.filter((entry) => entry.isSecret).map((entry) => entry.value);
  if (credential) secrets.push(credential.value);
  const opening = { fence, tokenHash: context.caller.tokenHash, attempt: grant.build.attempt + 1, secrets };
  settled(await context.logOf(buildId).open(opening));
  const environment = entries.map(({ key, scope, isSecret, version }) => ({ key, scope, isSecret, version }));
  const variableIds = entries.flatMap((entry) => entry.variableId ?? []);
  const { requestId } = context;
  const { build, leaseExpiresAt } = settled(
    await pool.deliver({ buildId, fence, agentId, environment, variableIds, requestId }),
  );
  const job = jobOf(grant, found, entries);
  return { build: answered(context, build), leaseExpiresAt, ...job, repository: { ...job.repository, credential } };
};

/**
 * Gives the agent the next build that it may have, composed for this answer alone; `null` where none waits.
 * @throws Refusal unavailable where a part of the service is away: the build has gone back, no attempt is used
 */
export const handOut = async (context: Context, agentId: string): Promise<Job | null> => {
  const pool = context.poolOf(context.orgId);
  const claimed = await pool.claim({ agentId, tokenHash: context.caller.tokenHash, bootId: context.bootId });
  if (!claimed.ok && claimed.refusal.kind === "unauthenticated") await refuseForeignPath(context, agentId);
  const grant = settled(claimed);
  if (!grant) return null;
  const { buildId, fence } = grant;
  try {
    return await deliver(context, agentId, grant);
  } catch (error) {
    if (error instanceof Refusal && error.kind === "lease-lost") return null;
    const why = unopenable(error);
    if (why !== null) {
      await pool.failClaim({ buildId, fence, reason: "environment", message: why });
      return handOut(context, agentId);
    }
    await pool.unclaim({ buildId, fence, notBefore: Date.now() + RETRY_AFTER_SECONDS * 1000 });
    if (error instanceof Refusal) throw error;
    const detail = "The build's environment could not be read just now. Nothing was handed out.";
    throw new Refusal("unavailable", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
  }
};

/** Why the environment can never be handed out as it stands; `null` where trying again may help. */
const unopenable = (error: unknown): string | null => {
  if (error instanceof Uncomposable || error instanceof EnvironmentTooLarge) return error.message;
  return error instanceof Damaged ? "A secret's sealed value is damaged: set its value again." : null;
};
