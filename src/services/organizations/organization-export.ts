import { and, asc, eq, gt } from "drizzle-orm";
import type * as z from "zod/mini";
import { credential, organization } from "../../db/schema.ts";
import type { Build } from "../../protocol/build.ts";
import { type ExportQuery, NOUNS, type Noun } from "../../protocol/organization.ts";
import { encodeCursor } from "../../protocol/page.ts";
import { Credential } from "../../protocol/repository.ts";
import { MIB } from "../../protocol/units.ts";
import { VERSION } from "../../protocol/version.ts";
import { listAgents } from "../agents/agents.ts";
import { listBuilds } from "../builds/build-list.ts";
import { findBuild, findRecord } from "../builds/builds.ts";
import { listConnections } from "../connections/connections.ts";
import { auditRow } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { notFound, Refusal } from "../core/refusal.ts";
import { makeView } from "../core/verb.ts";
import { listPipelines } from "../repositories/pipelines.ts";
import { listRepositories } from "../repositories/repositories.ts";
import { listSchedules } from "../schedules/schedules.ts";
import { readPage, testedJobs } from "../tests/test-reports.ts";
import { listAudit } from "../tokens/audit.ts";
import { listTokens } from "../tokens/tokens.ts";
import { listArtifactsOfBuild } from "../uploads/artifacts.ts";
import { listCache } from "../uploads/caches.ts";
import { listGroups } from "../variables/groups.ts";
import { listVariables } from "../variables/variables.ts";
import { organizationRecord } from "./organizations.ts";

/** Records on one page. A page must fit into memory, so it has fewer records if each of them may be large. */
const PAGE = 100;
const LARGE_PAGE = 20;
/** The total number of jobs in the builds, or in the test reports, that the export reads at once. */
const BUILDS_AT_ONCE = 10;
const REPORTS_AT_ONCE = 4;
/** The characters after which a page ends, for lists in which one record may lead to many. */
const PAGE_TEXT = 4 * MIB;
interface Page {
  records: object[];
  /** The id after which the next page begins; null on the last page. */
  after: string | null;
}
type Read = (context: Context, cursor: string | undefined) => Promise<Page>;

interface Listed {
  value: { id: string }[];
  nextCursor: string | null;
}

/**
 * Returns a page from the verb that lists the records for clients. The page contains exactly the records that clients
 * may see.
 */
const listed = async (list: Promise<Listed>): Promise<Page> => {
  const { value, nextCursor } = await list;
  return { records: value, after: nextCursor === null ? null : (value.at(-1)?.id ?? null) };
};

const input = <Q>(query: Q) => ({ params: undefined, query, body: undefined });

/** Returns an empty list if somebody deleted the build or its report after the list was read. */
const nothingIfGone = async <T>(records: Promise<T[]>): Promise<T[]> => {
  try {
    return await records;
  } catch (error) {
    if (error instanceof Refusal && (error.kind === "not-found" || error.kind === "gone")) return [];
    throw error;
  }
};

/**
 * Splits the builds by their numbers of jobs into groups to read at once. A record with many jobs may fill much of the
 * memory.
 */
const splitIntoGroups = (builds: Build[], atOnce: number): Build[][] => {
  const groups: Build[][] = [];
  let jobs = atOnce;
  for (const build of builds) {
    const own = build.jobCounts?.total ?? 1;
    jobs += own;
    if (jobs <= atOnce) groups.at(-1)?.push(build);
    else {
      groups.push([build]);
      jobs = own;
    }
  }
  return groups;
};

const pageOfBuilds = (context: Context, limit: number, cursor: string | undefined) =>
  listBuilds.answer(context, input({ limit, cursor: cursor ? { id: cursor, isPastLive: false } : undefined }));

/** Reads a page's groups, one after another, until the page is full. `after` is null if all of them fit. */
const filled = async <T>(groups: T[][], read: (one: T) => Promise<Page>): Promise<Page> => {
  const records: object[] = [];
  let size = 0;
  for (const group of groups) {
    const parts = await Promise.all(group.map(read));
    for (const part of parts) records.push(...part.records);
    size += JSON.stringify(parts).length;
    const { after } = parts.at(-1)!;
    if (size > PAGE_TEXT || after?.includes(".")) return { records, after };
  }
  return { records, after: null };
};

/** Returns the records of a page, and the id after which the next page begins. */
const upTo = async (page: Listed, { records, after }: Page): Promise<Page> => ({
  records,
  after: after ?? (await listed(Promise.resolve(page))).after,
});

/** Reads the records for a page's builds. Reads none for a build that somebody deleted after the list was read. */
const ofBuilds =
  (read: (context: Context, id: string) => Promise<object[]>): Read =>
  async (context, cursor) => {
    const page = await pageOfBuilds(context, LARGE_PAGE, cursor);
    const groups = splitIntoGroups(page.value, BUILDS_AT_ONCE);
    const ofBuild = async ({ id }: Build) => ({ records: await nothingIfGone(read(context, id)), after: id });
    return upTo(page, await filled(groups, ofBuild));
  };

/**
 * Reports whether a build may have test reports. A list does not show this for builds with planned jobs in the pool.
 */
const mayHaveTests = ({ tests, jobCounts }: Build): boolean => tests !== null || jobCounts !== null;

/** Reads one build's reports, after skipping `count` of them. */
const reportsAfter = async (context: Context, id: string, count: number): Promise<Page> => {
  const [build] = await nothingIfGone(findRecord(context, id).then((record) => [record]));
  const jobs = build ? (await testedJobs(context, build)).slice(count) : [];
  const reports = build ? await readPage(context, build, jobs) : [];
  const isLast = reports.length === jobs.length;
  return {
    records: reports.filter((report) => report !== null),
    after: isLast ? id : `${id}.${count + reports.length}`,
  };
};

const tests: Read = async (context, cursor = "") => {
  const [id = "", count] = cursor.split(".");
  if (count !== undefined) return reportsAfter(context, id, Number(count));
  const page = await pageOfBuilds(context, PAGE, cursor);
  const groups = splitIntoGroups(page.value.filter(mayHaveTests), REPORTS_AT_ONCE);
  return upTo(page, await filled(groups, ({ id }) => reportsAfter(context, id, 0)));
};

/**
 * Reads the cache entries, each with its repository. Does not export their bytes, because any build can recreate them.
 */
const caches: Read = async (context, cursor) => {
  const page = await listRepositories.answer(context, input({ limit: LARGE_PAGE, cursor }));
  const ofRepository = async ({ id }: { id: string }) => {
    const entries = await nothingIfGone(listCache.run(context, { ...input(undefined), params: { id } }));
    return { records: entries.map((entry) => ({ repoId: id, ...entry })), after: id };
  };
  return upTo(
    page,
    await filled(
      page.value.map((one) => [one]),
      ofRepository,
    ),
  );
};

const credentialRecord = makeView(Credential);

const credentials: Read = async ({ db, orgId }, cursor = "") => {
  const isNext = and(eq(credential.orgId, orgId), gt(credential.repoId, cursor));
  const rows = db.sql.select().from(credential).where(isNext).orderBy(asc(credential.repoId)).limit(PAGE);
  const [rowsOfPage] = await db.run(rows);
  return {
    records: rowsOfPage.map(credentialRecord),
    after: rowsOfPage.length < PAGE ? null : (rowsOfPage.at(-1)?.repoId ?? null),
  };
};

const READS: Record<Noun, Read> = {
  async organization({ db, orgId }) {
    const [rows] = await db.run(db.sql.select().from(organization).where(eq(organization.id, orgId)));
    return { records: rows.map(organizationRecord), after: null };
  },
  token: (context, cursor) => listed(listTokens.answer(context, input({ limit: PAGE, cursor }))),
  connection: (context, cursor) => listed(listConnections.answer(context, input({ limit: PAGE, cursor }))),
  repository: (context, cursor) => listed(listRepositories.answer(context, input({ limit: PAGE, cursor }))),
  credential: credentials,
  pipeline: (context, cursor) => listed(listPipelines.answer(context, input({ limit: LARGE_PAGE, cursor }))),
  schedule: (context, cursor) => listed(listSchedules.answer(context, input({ limit: PAGE, cursor }))),
  group: (context, cursor) =>
    listed(listGroups.answer(context, input({ limit: PAGE, cursor, includeVariables: false }))),
  variable: (context, cursor) =>
    listed(listVariables.answer(context, input({ limit: PAGE, cursor, includeInactive: true }))),
  build: ofBuilds(async (context, id) => [await findBuild(context, id)]),
  artifact: ofBuilds(async (context, id) => listArtifactsOfBuild(context, await findRecord(context, id))),
  tests,
  cache: caches,
  audit: (context, cursor) => listed(listAudit.answer(context, input({ limit: PAGE, cursor }))),
  agent: (context, cursor) => listed(listAgents.answer(context, input({ limit: PAGE, cursor }))),
};

const toLine = (value: object): string => `${JSON.stringify(value)}\n`;

/**
 * Returns the context of the organization to export.
 * @throws Refusal not-found, also for an organization that is not the caller's
 */
const exported = async (context: Context, id: string): Promise<Context> => {
  const { kind } = await context.admit();
  if (kind !== "operator" && id !== context.orgId) throw notFound();
  const within = context.inOrganization(id);
  const { sql: db } = within.db;
  const [[row]] = await within.db.run(db.select().from(organization).where(eq(organization.id, id)));
  if (!row) throw notFound();
  return within;
};

/**
 * Exports one page of an organization's data, as lines of JSON. The first line names the version and the nouns; each
 * other line has a noun and a record. If the request names no noun, the pages lead through all nouns.
 */
export const exportOrganization = async (
  context: Context,
  id: string,
  { noun: only, cursor }: z.infer<typeof ExportQuery>,
): Promise<{ text: string; nextCursor: string | null }> => {
  const within = await exported(context, id);
  const [noun = NOUNS[0], after] = (cursor?.split("/") ?? [only]) as [Noun | undefined, string | undefined];
  const lines: string[] = [];
  if (cursor === undefined) {
    await within.db.run(
      auditRow(within, { action: "organization.export", subject: id, detail: { noun: only ?? null } }),
    );
    lines.push(toLine({ version: VERSION, organization: id, exportedAt: context.at, nouns: only ? [only] : NOUNS }));
  }
  const page = await READS[noun](within, after || undefined);
  lines.push(...page.records.map((record) => toLine({ noun, record })));
  const next = only ? undefined : NOUNS[NOUNS.indexOf(noun) + 1];
  const begin = page.after === null ? next && `${next}/` : `${noun}/${page.after}`;
  return { text: lines.join(""), nextCursor: begin ? encodeCursor(begin) : null };
};
