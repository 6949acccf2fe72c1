import { and, eq, getTableColumns, inArray, notExists, or, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { deleteCache, repositoryPath } from "../../archive/cache.ts";
import { hashToken } from "../../crypto/token.ts";
import { ensure } from "../../db/guard.ts";
import {
  connection,
  credential,
  listedPush,
  openPull,
  pipeline,
  pipelineGroup,
  pipelineHistory,
  repository,
  schedule,
  variable,
} from "../../db/schema.ts";
import { canonicalCloneUrl, cloneHost, cloneOrigin, cloneUrlProblem } from "../../domain/clone-url.ts";
import { branchProblem } from "../../domain/git-ref.ts";
import { PathId } from "../../protocol/common.ts";
import { NewRepository, Repository, RepositoryChange, RepositoryFilter } from "../../protocol/repository.ts";
import { unhook } from "../connections/connection-hooks.ts";
import { commit, ensureRoom } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { listing, toPage } from "../core/listing.ts";
import { deleteRow, findOne, makeGetter, nextVersion, updateRow } from "../core/record.ts";
import { invalid, Refusal } from "../core/refusal.ts";
import { checkOwnOrg, makeUpdateSchema, makeView, verb, versioned, writablePart } from "../core/verb.ts";
import { forgetUnlisted } from "../deliveries/arrival-rows.ts";

export type RepositoryColumns = typeof repository.$inferSelect;

/** 1 if a clone credential is stored, otherwise 0. */
const hasCredential = sql<number>`EXISTS (SELECT 1 FROM credential AS c WHERE c.repo_id = repository.id)`.as(
  "has_credential",
);
export const COLUMNS = { ...getTableColumns(repository), hasCredential };
export type FoundRepository = RepositoryColumns & { hasCredential: number };

const view = makeView(Repository);
export const repositoryRecord = (row: FoundRepository): Repository =>
  view({
    ...row,
    untrustedAuthors: row.untrustedAuthors ?? [],
    hasCredential: row.hasCredential === 1,
    hasHook: row.hostHookId !== null,
  });

interface Addresses {
  cloneUrl?: string;
  defaultBranch?: string | null;
}

/**
 * Checks the addresses.
 * @throws Refusal invalid if git could not use one of them, or if the deployment does not allow its protocol
 */
const checkAddresses = (context: Context, { cloneUrl, defaultBranch }: Addresses): void => {
  const urlProblem = cloneUrl && cloneUrlProblem(cloneUrl, context.config.CLONE_PROTOCOLS);
  if (urlProblem) throw invalid("/cloneUrl", urlProblem);
  const problem = defaultBranch && branchProblem(defaultBranch);
  if (problem) throw invalid("/defaultBranch", problem);
};

/**
 * Computes a replacement for `gitHostRepoId` if the git host's number is unknown. The same clone address always gives
 * the same number. That number is larger than any number that git hosts reach, so that the two never collide.
 */
export const computeNumber = async (cloneUrl: string): Promise<number> =>
  2 ** 52 + Number.parseInt((await hashToken(cloneUrl)).slice(0, 13), 16);

export const sameHostId = (context: Context, row: RepositoryColumns) =>
  context.db.sql
    .select({ id: repository.id })
    .from(repository)
    .where(
      and(
        eq(repository.orgId, context.orgId),
        or(eq(repository.cloneHost, row.cloneHost), eq(repository.connectionId, row.connectionId ?? "")),
        eq(repository.gitHostRepoId, row.gitHostRepoId),
      ),
    );

export const repositoryDetail = ({
  fullName,
  cloneUrl,
  connectionId,
  isActive,
  forks,
  untrustedAuthors,
}: RepositoryColumns) => ({
  fullName,
  cloneUrl,
  isActive,
  ...(forks === "off" ? {} : { forks }),
  ...(untrustedAuthors?.length ? { untrustedAuthors } : {}),
  ...(connectionId === null ? {} : { connectionId }),
});

type Given = Pick<RepositoryColumns, "gitHostRepoId" | "fullName" | "cloneUrl" | "defaultBranch" | "connectionId"> &
  Partial<Pick<RepositoryColumns, "forks" | "untrustedAuthors">>;

/** Creates the row of a newly connected repository. */
export const newRepositoryRow = (context: Context, fields: Given): RepositoryColumns => ({
  forks: "off",
  untrustedAuthors: null,
  ...fields,
  id: context.newId(),
  orgId: context.orgId,
  cloneHost: cloneHost(fields.cloneUrl),
  defaultPipelineId: null,
  hostHookId: null,
  skippedHeads: null,
  isActive: true,
  version: 1,
  createdAt: context.at,
  updatedAt: context.at,
});

/** Rolls the batch back unless the connection, if any, belongs to the organization. */
export const ensureConnection = ({ db: { sql: db }, orgId }: Context, connectionId: string | null | undefined) =>
  connectionId == null
    ? []
    : [
        ensure(
          db,
          "owner_exists",
          sql`EXISTS (SELECT 1 FROM ${connection} WHERE ${connection.id} = ${connectionId} AND ${connection.orgId} = ${orgId})`,
        ),
      ];

export const insertRepository = (context: Context, row: RepositoryColumns) => [
  ensureRoom(context, "repositories"),
  context.db.sql.insert(repository).values(row),
];

export const connectRepository = verb({
  access: { role: "maintainer" },
  body: NewRepository,
  output: Repository,
  async run(context, { body }) {
    await context.admit();
    checkOwnOrg(context, body.orgId);
    const cloneUrl = canonicalCloneUrl(body.cloneUrl);
    checkAddresses(context, { ...body, cloneUrl });
    const { gitHostRepoId, fullName, connectionId = null } = body;
    const { forks = "off", untrustedAuthors = [] } = body;
    const whose = { forks, untrustedAuthors };
    const fields = {
      gitHostRepoId,
      fullName,
      cloneUrl,
      connectionId,
      defaultBranch: body.defaultBranch ?? "main",
      ...whose,
    };
    const row = newRepositoryRow(context, fields);
    await commit(
      context,
      { action: "repository.connect", subject: row.id, detail: repositoryDetail(row) },
      [...ensureConnection(context, connectionId), ...insertRepository(context, row)],
      sameHostId(context, row),
    );
    return versioned(repositoryRecord({ ...row, hasCredential: 0 }), row.version);
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
    return toPage(rows, query, repositoryRecord);
  },
});

export const getRepository = makeGetter("viewer", repository, COLUMNS, Repository, repositoryRecord);

/**
 * Returns a condition that holds if the default pipeline belongs to the repository, or if there is no default pipeline.
 */
const ownsPipeline = (repoId: string, pipelineId: string | null) =>
  pipelineId === null
    ? sql`1`
    : sql`EXISTS (SELECT 1 FROM ${pipeline} WHERE ${pipeline.id} = ${pipelineId} AND ${pipeline.repoId} = ${repoId})`;

const selectCredential = (context: Context, repoId: string) =>
  context.db.sql.select({ repoId: credential.repoId }).from(credential).where(eq(credential.repoId, repoId));

export const updateRepository = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: makeUpdateSchema(Repository, RepositoryChange),
  output: Repository,
  async run(context, { params, body }) {
    const row = await findOne(context, repository, COLUMNS, params.id);
    const fields = writablePart(body, RepositoryChange, repositoryRecord(row));
    if (fields.cloneUrl !== undefined) fields.cloneUrl = canonicalCloneUrl(fields.cloneUrl);
    checkAddresses(context, fields);
    const host = cloneHost(fields.cloneUrl ?? row.cloneUrl);
    const isLeaving = fields.connectionId !== undefined && fields.connectionId !== row.connectionId;
    const hook = isLeaving ? { hostHookId: null } : {};
    const change = { ...fields, ...hook, cloneHost: host, ...nextVersion(context, row) };
    const next = { ...row, ...change };
    const credentialRow = selectCredential(context, row.id);
    const isMoved = cloneOrigin(next.cloneUrl) !== cloneOrigin(row.cloneUrl);
    if (isMoved && (await context.db.run(credentialRow))[0].length > 0) {
      throw new Refusal("in-use", "The clone credential belongs to the previous host: remove it first.");
    }
    const db = context.db.sql;
    await commit(
      context,
      { action: "repository.update", subject: row.id, detail: repositoryDetail(next) },
      [
        ensure(db, "owner_exists", ownsPipeline(row.id, next.defaultPipelineId)),
        ensure(db, "unused", isMoved ? notExists(credentialRow) : sql`1`),
        ...(isLeaving ? ensureConnection(context, fields.connectionId) : []),
        ...(isLeaving && row.connectionId !== null ? [db.delete(openPull).where(eq(openPull.repoId, row.id))] : []),
        ...forgetUnlisted(db, row, next.untrustedAuthors ?? []),
        ...updateRow(context, repository, row, change),
      ],
      sameHostId(context, next),
    );
    if (isLeaving) await unhook(context, row);
    return versioned(repositoryRecord(next), next.version);
  },
});

export const deleteRepository = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const row = await findOne(context, repository, COLUMNS, params.id);
    if (await (await context.pool()).hasLiveBuilds({ repoId: row.id })) throw hasActiveBuilds();
    const db = context.db.sql;
    const pipelines = db.select({ id: pipeline.id }).from(pipeline).where(eq(pipeline.repoId, row.id));
    const owned = or(
      and(eq(variable.scope, "repository"), eq(variable.ownerId, row.id)),
      and(eq(variable.scope, "pipeline"), inArray(variable.ownerId, pipelines)),
    );
    await commit(
      context,
      { action: "repository.delete", subject: row.id, detail: repositoryDetail(row) },
      deleteRow(context, repository, row, [
        db.delete(variable).where(and(eq(variable.orgId, context.orgId), owned)),
        db.delete(credential).where(eq(credential.repoId, row.id)),
        db.delete(openPull).where(eq(openPull.repoId, row.id)),
        db.delete(listedPush).where(eq(listedPush.repoId, row.id)),
        db.delete(pipelineGroup).where(inArray(pipelineGroup.pipelineId, pipelines)),
        db
          .delete(pipelineHistory)
          .where(and(eq(pipelineHistory.orgId, context.orgId), inArray(pipelineHistory.pipelineId, pipelines))),
        db.delete(schedule).where(inArray(schedule.pipelineId, pipelines)),
        db.delete(pipeline).where(eq(pipeline.repoId, row.id)),
      ]),
    );
    await unhook(context, row);
    context.waitUntil(deleteCache(context.archive, repositoryPath(context.orgId, row.id)).then(() => {}));
  },
});

export const hasActiveBuilds = () =>
  new Refusal("in-use", "A build is still waiting or running: wait for it or cancel it first.");
