import { and, desc, eq, exists, isNotNull, lt, ne, sql } from "drizzle-orm";
import { buildSummary, credential, pipeline, repository } from "../../db/schema.ts";
import type { ComposedEntry } from "../../domain/compose.ts";
import { credentialContext } from "../../domain/seal-context.ts";
import { readSnapshot } from "../../githosts/core/file-snapshot.ts";
import type { Job } from "../../protocol/jobs.ts";
import { PIPELINE_DEFAULTS } from "../../protocol/pipeline.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import type { ClaimedJob, PlannedJob } from "../../queue/commands/commands.ts";
import { checkOwnPath } from "../agents/agents.ts";
import { buildRecord } from "../builds/build-view.ts";
import { Uncomposable } from "../builds/run-values.ts";
import type { Context } from "../core/context.ts";
import { isOwn } from "../core/record.ts";
import { Refusal, settled } from "../core/refusal.ts";
import { isAskedForFile } from "../repositories/pipeline-files.ts";
import { groupsOfPipeline, variablesOfBuild } from "../variables/variable-scopes.ts";
import { composeFor, deliveredKeys, handedEnvironment, listSecrets, unopenable } from "./build-environment.ts";
import { cloneToken, WITH_APP } from "./clone-token.ts";

/** The pipeline's builds, the newest first, that the search for the branch's last green build covers. */
const MOST_LOOKED_AT = 50;

/**
 * Finds the last commit of a pushed branch that built successfully; null for other builds. Stops at the first such
 * commit: in a healthy branch it reads one build.
 */
const greenCommit = (context: Context, { build, pipelineId }: ClaimedJob) => {
  const { sql: db } = context.db;
  const { orgId, pipelineId: ofPipeline, id, ref, status, commitSha, createdBy } = buildSummary;
  if (build.event !== "push" || pipelineId === null) return null;
  const newest = db
    .select({ ref, status, commitSha, createdBy })
    .from(buildSummary)
    .where(and(eq(orgId, context.orgId), eq(ofPipeline, pipelineId), lt(id, build.id)))
    .orderBy(desc(id))
    .limit(MOST_LOOKED_AT)
    .as("newest");
  const isTrusted = sql`json_extract(${newest.createdBy}, '$.trust') IS NULL`;
  const isGreen = and(
    eq(newest.ref, build.ref),
    eq(newest.status, "succeeded"),
    isNotNull(newest.commitSha),
    isTrusted,
  );
  // A build that repeats a green build is compared with the previous green commit.
  return db
    .select({ commitSha: newest.commitSha })
    .from(newest)
    .where(and(isGreen, ne(newest.commitSha, build.commitSha ?? "")))
    .limit(1);
};

/** Chooses the base for the build's changes, if the service knows it. */
const chooseBase = ({ build }: ClaimedJob, green: { commitSha: string | null } | undefined): Job["base"] => {
  if (build.pull?.base) return { branch: build.pull.base };
  return green?.commitSha ? { sha: green.commitSha } : undefined;
};

const RETRY_AFTER_SECONDS = 5;
/** A query that reads no data from the database. */
const ONE = sql`SELECT 1`;
/**
 * Jobs that one hand-out may fail because their environment cannot be composed. So many failures suggest a value that
 * all of these jobs need. The agent then waits before it polls again, so that somebody can fix the value before the
 * whole queue fails.
 */
const FAILED_AT_ONCE = 10;
const FAILED_RETRY_SECONDS = 30;

/**
 * Reports whether a file in the commit defines the build, and whether the agent can request the environment after
 * reading that file.
 */
const mayAskLater = ({ headers }: Context, { job }: ClaimedJob): boolean =>
  job === undefined && headers.features.includes("environment");

/** Does step 2: reads the build's sources at D1's primary. */
const readSources = async (context: Context, claimed: ClaimedJob) => {
  const { sql } = context.db;
  const ofRepository = isOwn(context, repository, claimed.repoId);
  const ofPipeline = and(eq(pipeline.repoId, claimed.repoId), eq(pipeline.id, claimed.pipelineId ?? ""));
  const hasDefinition = sql
    .select({ id: pipeline.id })
    .from(pipeline)
    .where(and(ofPipeline, isNotNull(pipeline.definition)));
  const onlyIf = mayAskLater(context, claimed) ? exists(hasDefinition) : undefined;
  const green = greenCommit(context, claimed);
  const [[foundRepository], [foundPipeline], rows, [sealedCredential], groups, [good] = []] = await context.db.run(
    sql.select(WITH_APP).from(repository).where(ofRepository),
    sql.select().from(pipeline).where(ofPipeline),
    variablesOfBuild(sql, context.orgId, claimed.repoId, claimed.pipelineId, onlyIf),
    sql.select().from(credential).where(eq(credential.repoId, claimed.repoId)),
    groupsOfPipeline(sql, context.orgId, claimed.pipelineId),
    ...(green ? [green] : []),
  );
  if (!foundRepository) throw new Uncomposable("The repository was deleted.");
  if (claimed.pipelineId && !foundPipeline) throw new Uncomposable("The pipeline was deleted.");
  const base = chooseBase(claimed, good);
  return { repository: foundRepository, pipeline: foundPipeline, rows, groups, sealedCredential, base };
};

type Sources = Awaited<ReturnType<typeof readSources>>;

/**
 * Does step 3: opens every value. One broken value stops the hand-out. Returns null if the agent requests the values
 * later.
 */
const composed = async (context: Context, claimed: ClaimedJob, sources: Sources): Promise<ComposedEntry[] | null> =>
  mayAskLater(context, claimed) && sources.pipeline?.definition == null ? null : composeFor(context, claimed, sources);

/**
 * Opens the stored clone credential for this answer. Without one, creates a token of the connection's App. Untrusted
 * code never gets a stored credential.
 */
const openCredential = async (
  context: Context,
  { build }: ClaimedJob,
  { sealedCredential: row, repository: repositoryRow }: Sources,
): Promise<Job["repository"]["credential"]> => {
  if (!row || build.trust === "untrusted") return cloneToken(context, repositoryRow);
  const value = await context.keys.open(row.sealed, credentialContext(row, repositoryRow.cloneUrl));
  return { kind: row.kind, username: row.username, value };
};

/**
 * Returns the additional tasks for a planned job. The file of the job's build was read, and the comparison base is
 * known.
 */
const toJobErrand = ({ build }: ClaimedJob, { job, hash, path, needs, attempt }: PlannedJob): Partial<Job> => {
  const { id, key, definition, name, matrix } = job;
  return {
    job: { id, key, definition, name, matrix, attempt, needs, hash, path },
    ...(build.base ? { base: { sha: build.base } } : {}),
  };
};

/**
 * Returns the agent's tasks in addition to running the file's steps. A build that a request created has no such tasks.
 */
const toErrand = (
  { build, purpose, paths }: ClaimedJob,
  { pipeline: pipelineRow, repository: repositoryRow, base }: Sources,
): Partial<Job> => ({
  ...(purpose === "read-file" ? { purpose } : {}),
  ...(paths ? { paths } : {}),
  ...(base ? { base } : {}),
  ...(pipelineRow && isAskedForFile(build, pipelineRow, repositoryRow)
    ? { file: { hash: readSnapshot(pipelineRow.fileSnapshot)?.hash ?? null, decides: pipelineRow.on === null } }
    : {}),
});

const handedJob = (claimed: ClaimedJob, sources: Sources, entries: ComposedEntry[] | null) => ({
  lease: claimed.fence,
  repository: { fullName: sources.repository.fullName, cloneUrl: sources.repository.cloneUrl },
  pipeline: {
    name: sources.pipeline?.name ?? sources.repository.fullName,
    configPath: (sources.pipeline ?? PIPELINE_DEFAULTS).configPath,
    definition: claimed.job?.text ?? (sources.pipeline ?? PIPELINE_DEFAULTS).definition,
  },
  ...handedEnvironment(entries ?? []),
  ...(entries ? {} : { needsEnvironment: true }),
  requires: claimed.requires,
  timeoutSeconds: claimed.timeoutSeconds,
  mayGoElsewhere: claimed.mayGoElsewhere,
  heartbeat: "socket" as const,
  ...(claimed.job ? toJobErrand(claimed, claimed.job) : toErrand(claimed, sources)),
});

/** Does steps 2 and 3 of a hand-out, after step 1 granted the lease. These steps leave no trace. */
const prepare = async (context: Context, claimed: ClaimedJob) => {
  const sources = await readSources(context, claimed);
  const entries = await composed(context, claimed, sources);
  return { sources, entries, credential: await openCredential(context, claimed, sources) };
};

/** Does steps 4 to 6 of a hand-out. */
const deliver = async (
  context: Context,
  agentId: string,
  claimed: ClaimedJob,
  { sources, entries, credential }: Awaited<ReturnType<typeof prepare>>,
): Promise<Job> => {
  const { jobId, fence } = claimed;
  const pool = context.objects.pool(context.orgId);
  const secrets = listSecrets(entries ?? []);
  if (credential) secrets.push(credential.value);
  const attempt = claimed.job?.attempt ?? claimed.build.attempt + 1;
  const opening = { fence, tokenHash: context.caller.tokenHash, attempt, secrets };
  const { requestId } = context;
  const names = entries ? deliveredKeys(entries) : { environment: null };
  const { build, leaseExpiresAt } = settled(await pool.deliver({ jobId, fence, agentId, ...names, requestId }));
  settled(await context.objects.log(context.orgId, jobId).open(opening));
  const job = handedJob(claimed, sources, entries);
  return { build: buildRecord(context, build), leaseExpiresAt, ...job, repository: { ...job.repository, credential } };
};

/**
 * Reports whether every hand-out fails now, because the database or the keys fail even in a check that is independent
 * of the build. Failures that the build itself caused, through its own rows or its git host, prove nothing about other
 * builds.
 */
const isAwayForAll = async ({ db, keys }: Context): Promise<boolean> => {
  try {
    await Promise.all([db.run(db.statement(ONE)), keys.keyring()]);
    return false;
  } catch {
    return true;
  }
};

/** Returns the granted job to the queue without using up an attempt. @throws Refusal, always */
const giveBack = async (
  context: Context,
  { jobId, fence }: ClaimedJob,
  isLogOpen: boolean,
  error: unknown,
): Promise<never> => {
  const notBefore = Date.now() + RETRY_AFTER_SECONDS * SECOND_MS;
  const isAway = await isAwayForAll(context);
  await context.objects.pool(context.orgId).unclaim({ jobId, fence, notBefore, isLogOpen, isAway });
  if (error instanceof Refusal) throw error;
  const detail = "The build's environment is unavailable right now. The job is back in the queue.";
  throw new Refusal("unavailable", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
};

/**
 * Hands the agent its next job; returns null if no job is ready. Fails up to `FAILED_AT_ONCE` jobs on the way if their
 * environments cannot be composed.
 * @throws Refusal unavailable if so many failed, or if a part of the service does not answer; the job then waits again
 */
export const handOut = async (context: Context, agentId: string): Promise<Job | null> => {
  const pool = context.objects.pool(context.orgId);
  const { tokenHash } = context.caller;
  const { bootId, features, xcodes } = context.headers;
  for (let failed = 0; failed < FAILED_AT_ONCE; failed++) {
    const claim = await pool.claim({ agentId, tokenHash, bootId, features, xcodes });
    if (!claim.ok && claim.refusal.kind === "unauthenticated") await checkOwnPath(context, agentId);
    const claimed = settled(claim);
    if (!claimed) return null;
    let isLogOpen = claimed.isAgain;
    try {
      const prepared = await prepare(context, claimed);
      isLogOpen = true;
      return await deliver(context, agentId, claimed, prepared);
    } catch (error) {
      if (error instanceof Refusal && error.kind === "lease-lost") return null;
      const message = unopenable(error);
      if (message === null) return giveBack(context, claimed, isLogOpen, error);
      const { jobId, fence } = claimed;
      await pool.failClaim({ jobId, fence, reason: "environment", message });
    }
  }
  const detail = "Several builds failed because their environment could not be assembled: see their messages.";
  throw new Refusal("unavailable", detail, { retryAfterSeconds: FAILED_RETRY_SECONDS });
};
