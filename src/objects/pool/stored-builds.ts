import { type BuildRow, readBuildRow, readPool } from "../../db/projection.ts";
import { quoted } from "../../db/quoted.ts";
import { branchOf } from "../../domain/git-ref.ts";
import { firstIdAt } from "../../domain/id-range.ts";
import type { BuildOrigin } from "../../githosts/core/build-origin.ts";
import { BuildEvent } from "../../protocol/build.ts";
import { ACTIVE } from "../../protocol/build-states.ts";
import { type HeardSequence, NOTHING_HEARD, type Stored, type StoredBuild } from "../../queue/state/stored.ts";

/** Milliseconds by which ids may be older than the change that made them known. */
const MARGIN_MS = 60 * 60 * 1000;

const IS_ACTIVE = `status IN (${quoted(ACTIVE)})`;

type Numbers = Stored["numbers"];

const buildOf = (raw: Record<string, unknown>): StoredBuild => {
  const row = readBuildRow(raw);
  const { orgId, ref, event, pull, author, subject, failedLine, tests, jobCounts, poolVersion, ...known } = row;
  return { ...known, branch: branchOf(ref), origin: originOf(row), version: poolVersion };
};

/** As much of what made a build as lists show. */
const originOf = ({ ref, pull, author, subject, ...row }: BuildRow): BuildOrigin | null => {
  const { data: event } = BuildEvent.safeParse(row.event);
  if (!event || event === "api") return null;
  const made = pull === null ? null : { number: pull, base: null, branch: branchOf(ref), title: null, author: null };
  const commit = subject === null ? null : { subject, author };
  return { event, before: null, pull: made, commit, schedule: null, paths: null, purpose: "build" };
};

/** A build that was deleted: its number was given, though no row has it any more. */
const DELETED_BUILD = `subject, json_extract(detail, '$.repoId') AS repoId, json_extract(detail, '$.number') AS number`;

const NO_BUILDS: Omit<Stored, "builds"> = { heard: null, numbers: [], removedAgents: [], revoked: [], deleted: [] };

/** The builds with these ids. */
export const readBuilds = async (db: D1Database, orgId: string, ids: string[]): Promise<Stored> => {
  const query = `SELECT * FROM build_summary WHERE org_id = ?1 AND id IN (SELECT value FROM json_each(?2))`;
  const { results } = await db.prepare(query).bind(orgId, JSON.stringify(ids)).all();
  return { ...NO_BUILDS, builds: results.map(buildOf) };
};

/**
 * What D1 knows that a pool may have forgotten which was restored to the time `since` (milliseconds since 1970):
 * builds that are under way, the builds with these ids, numbers, removals and revocations.
 */
export const readSince = async (db: D1Database, orgId: string, since: number, ids: string[]): Promise<Stored> => {
  const first = firstIdAt(since - MARGIN_MS);
  const newer = "org_id = ?1 AND id >= ?2";
  const audited = (actions: string, columns = "subject"): D1PreparedStatement => {
    const indexed = "action NOT IN ('build.create', 'build.deliver')";
    return db.prepare(`SELECT ${columns} FROM audit_log WHERE ${newer} AND ${indexed} AND action IN (${actions})`);
  };
  const [pool, under, known, numbers, removed, revoked, deletedBuilds, deletedLogs] = await db.batch([
    readPool(db, orgId),
    db.prepare(`SELECT * FROM build_summary WHERE ${newer} AND ${IS_ACTIVE}`).bind(orgId, first),
    db
      .prepare(`SELECT * FROM build_summary WHERE org_id = ?1 AND id IN (SELECT value FROM json_each(?2))`)
      .bind(orgId, JSON.stringify(ids)),
    db
      .prepare(`SELECT repo_id AS repoId, max(number) AS number FROM build_summary WHERE ${newer} GROUP BY repo_id`)
      .bind(orgId, first),
    audited("'agent.remove', 'agent.forget'").bind(orgId, first),
    audited("'token.revoke'").bind(orgId, first),
    audited("'build.delete'", DELETED_BUILD).bind(orgId, first),
    audited("'log.delete'").bind(orgId, first),
  ]);
  const subjects = (found: D1Result | undefined) =>
    ((found?.results ?? []) as { subject: string }[]).map(({ subject }) => subject);
  const builds = [under, known].flatMap((found) => (found?.results ?? []) as Record<string, unknown>[]).map(buildOf);
  return {
    heard: (pool?.results[0] as HeardSequence | undefined) ?? NOTHING_HEARD,
    builds: [...new Map(builds.map((build) => [build.id, build])).values()],
    numbers: [...((numbers?.results ?? []) as Numbers), ...((deletedBuilds?.results ?? []) as Numbers)],
    removedAgents: subjects(removed),
    revoked: subjects(revoked),
    deleted: [
      ...subjects(deletedBuilds).map((buildId) => ({ buildId, deleted: "build" as const })),
      ...subjects(deletedLogs).map((buildId) => ({ buildId, deleted: "log" as const })),
    ],
  };
};
