import { and, eq, getTableColumns, inArray, notExists, or, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { hashToken } from "../crypto/token.ts";
import { ensure, ensureUnchanged } from "../db/guard.ts";
import { credential, pipeline, pipelineGroup, repository, variable } from "../db/schema.ts";
import { canonicalCloneUrl, cloneHost, cloneOrigin, cloneUrlProblem } from "../domain/clone-url.ts";
import { branchProblem } from "../domain/git-ref.ts";
import { PathId } from "../protocol/common.ts";
import { NewRepository, Repository, RepositoryChange, RepositoryFilter } from "../protocol/repository.ts";
import type { Context } from "./core/context.ts";
import { listing } from "./core/listing.ts";
import { pageOf } from "./core/paging.ts";
import { invalid, notFound, Refusal } from "./core/refusal.ts";
import { checkOwnOrg, updateOf, verb, writablePart } from "./core/verb.ts";

export type RepositoryRow = typeof repository.$inferSelect;

/** A row, and whether a credential is kept for its clone: 1 or 0. */
type Found = RepositoryRow & { hasCredential: number };

const repositoryRecord = ({ version: _, cloneHost: __, ...row }: Found): Repository => {
  const { hasCredential, createdAt, updatedAt, ...rest } = row;
  return { ...rest, hasCredential: hasCredential === 1, createdAt, updatedAt };
};

const hasCredential = sql<number>`EXISTS (SELECT 1 FROM credential AS c WHERE c.repo_id = repository.id)`.as(
  "has_credential",
);
const COLUMNS = { ...getTableColumns(repository), hasCredential };

const check = (context: Context, { cloneUrl, defaultBranch }: { cloneUrl?: string; defaultBranch?: string | null }) => {
  const urlProblem = cloneUrl && cloneUrlProblem(cloneUrl, context.config.CLONE_PROTOCOLS);
  if (urlProblem) throw invalid("/cloneUrl", urlProblem);
  const problem = defaultBranch && branchProblem(defaultBranch);
  if (problem) throw invalid("/defaultBranch", problem);
};

/**
 * A number for a repository whose git host's own is not known: the same for the same clone address, and above all that
 * hosts count up to, so that it meets none of theirs.
 */
export const numberOf = async (cloneUrl: string): Promise<number> =>
  2 ** 52 + Number.parseInt((await hashToken(cloneUrl)).slice(0, 13), 16);

export const oneRepository = (context: Context, id: string) =>
  and(eq(repository.orgId, context.orgId), eq(repository.id, id));

const find = async (context: Context, id: string): Promise<Found> => {
  const [[row]] = await context.db.run(
    context.db.sql.select(COLUMNS).from(repository).where(oneRepository(context, id)),
  );
  if (!row) throw notFound();
  context.checkVersion(row.version);
  return row;
};

const sameHostId = (context: Context, row: RepositoryRow) =>
  context.db.sql
    .select({ id: repository.id })
    .from(repository)
    .where(
      and(
        eq(repository.orgId, context.orgId),
        eq(repository.cloneHost, row.cloneHost),
        eq(repository.gitHostRepoId, row.gitHostRepoId),
      ),
    );

const auditDetail = ({ fullName, cloneUrl, isActive }: RepositoryRow) => ({ fullName, cloneUrl, isActive });

export const connectRepository = verb({
  access: { role: "maintainer" },
  body: NewRepository,
  output: Repository,
  async run(context, { body }) {
    await context.admit();
    checkOwnOrg(context, body.orgId);
    const cloneUrl = canonicalCloneUrl(body.cloneUrl);
    check(context, { ...body, cloneUrl });
    const { gitHostRepoId, fullName } = body;
    const row: RepositoryRow = {
      ...{ id: context.newId(), orgId: context.orgId, gitHostRepoId, fullName, cloneUrl },
      ...{ cloneHost: cloneHost(cloneUrl), defaultBranch: body.defaultBranch ?? "main", defaultPipelineId: null },
      ...{ isActive: true, version: 1, createdAt: context.at, updatedAt: context.at },
    };
    await context.write(
      { action: "repository.connect", subject: row.id, detail: auditDetail(row) },
      [context.db.sql.insert(repository).values(row)],
      sameHostId(context, row),
    );
    context.version = row.version;
    return repositoryRecord({ ...row, hasCredential: 0 });
  },
});

const repositories = listing(repository, COLUMNS, {
  filters: {
    fullName: (name) => eq(repository.fullName, name),
    cloneUrl: (url) => eq(repository.cloneUrl, url),
  },
});

export const listRepositories = verb({
  access: { role: "viewer" },
  query: RepositoryFilter,
  output: z.array(Repository),
  async run(context, { query }) {
    const cloneUrl = query.cloneUrl && canonicalCloneUrl(query.cloneUrl);
    const [rows] = await context.db.run(repositories(context, { ...query, cloneUrl }));
    return pageOf(context, rows, query).map(repositoryRecord);
  },
});

export const getRepository = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Repository,
  run: async (context, { params }) => repositoryRecord(await find(context, params.id)),
});

export const updateRepository = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: updateOf(Repository, RepositoryChange),
  output: Repository,
  async run(context, { params, body }) {
    const { hasCredential, ...row } = await find(context, params.id);
    const change = writablePart(body, RepositoryChange, repositoryRecord({ ...row, hasCredential }));
    if (change.cloneUrl !== undefined) change.cloneUrl = canonicalCloneUrl(change.cloneUrl);
    check(context, change);
    const next = { ...row, ...change, version: row.version + 1, updatedAt: context.at };
    next.cloneHost = cloneHost(next.cloneUrl);
    const db = context.db.sql;
    const ownPipeline =
      next.defaultPipelineId === null
        ? sql`1`
        : sql`EXISTS (SELECT 1 FROM ${pipeline} WHERE ${pipeline.id} = ${next.defaultPipelineId} AND ${pipeline.repoId} = ${row.id})`;
    const isMoved = cloneOrigin(next.cloneUrl) !== cloneOrigin(row.cloneUrl);
    const kept = db.select({ repoId: credential.repoId }).from(credential).where(eq(credential.repoId, row.id));
    if (isMoved && (await context.db.run(kept))[0].length > 0) {
      throw new Refusal("in-use", "Its clone credential was set for the host before: remove that first.");
    }
    await context.write(
      { action: "repository.update", subject: row.id, detail: auditDetail(next) },
      [
        ensure(db, "owner_exists", ownPipeline),
        ensure(db, "unused", isMoved ? notExists(kept) : sql`1`),
        ensureUnchanged(db, repository, row),
        db.update(repository).set(next).where(oneRepository(context, row.id)),
      ],
      sameHostId(context, next),
    );
    context.version = next.version;
    return repositoryRecord({ ...next, hasCredential });
  },
});

export const deleteRepository = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const row = await find(context, params.id);
    if (await (await context.pool()).hasLiveBuilds({ repoId: row.id })) throw buildsUnderWay();
    const db = context.db.sql;
    const pipelines = db.select({ id: pipeline.id }).from(pipeline).where(eq(pipeline.repoId, row.id));
    const owned = or(
      and(eq(variable.scope, "repository"), eq(variable.ownerId, row.id)),
      and(eq(variable.scope, "pipeline"), inArray(variable.ownerId, pipelines)),
    );
    await context.write({ action: "repository.delete", subject: row.id, detail: auditDetail(row) }, [
      ensureUnchanged(db, repository, row),
      db.delete(variable).where(and(eq(variable.orgId, context.orgId), owned)),
      db.delete(credential).where(eq(credential.repoId, row.id)),
      db.delete(pipelineGroup).where(inArray(pipelineGroup.pipelineId, pipelines)),
      db.delete(pipeline).where(eq(pipeline.repoId, row.id)),
      db.delete(repository).where(oneRepository(context, row.id)),
    ]);
  },
});

export const buildsUnderWay = () =>
  new Refusal("in-use", "A build of it is waiting or running: wait for it or cancel it first.");
