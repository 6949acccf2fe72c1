import { type BuildRow, readBuildRow, readPool, readPoolAndLimits } from "../../db/projection.ts";
import { quoted } from "../../db/query.ts";
import { branchOf } from "../../domain/git-ref.ts";
import { firstIdAt } from "../../domain/id-range.ts";
import type { BuildOrigin } from "../../githosts/core/build-origin.ts";
import { log } from "../../log.ts";
import { BuildEvent } from "../../protocol/build.ts";
import { ACTIVE } from "../../protocol/build-states.ts";
import { effectiveLimits, type OrganizationLimits, type OwnLimits } from "../../protocol/organization.ts";
import { HOUR_MS } from "../../protocol/units.ts";
import type { Result } from "../../queue/commands/commands.ts";
import type { Stored, StoredBuild } from "../../queue/commands/reconcile.ts";
import { type HeardSequence, NOTHING_HEARD, type Reconciled } from "../../queue/commands/sequence.ts";
import type { Command, InputOf, OutputOf } from "../../queue/commands/step.ts";
import type { PoolState } from "../../queue/state/state.ts";
import { CALLER_WAIT_MS, SingleFlight, within } from "../attempt.ts";

/** Milliseconds by which an id may be older than the change that made the id known. */
const MARGIN_MS = HOUR_MS;

const IS_ACTIVE = `status IN (${quoted(ACTIVE)})`;

type Numbers = Stored["numbers"];

const toStoredBuild = (raw: Record<string, unknown>): StoredBuild => {
  const row = readBuildRow(raw);
  const { orgId, ref, event, pull, author, subject, failedLine, tests, jobCounts, poolVersion, ...build } = row;
  return { ...build, branch: branchOf(ref), origin: toOrigin(row), version: poolVersion };
};

/** Returns the parts of a build's origin that lists show. */
const toOrigin = ({ ref, pull, author, subject, ...row }: BuildRow): BuildOrigin | null => {
  const { data: event } = BuildEvent.safeParse(row.event);
  if (!event || event === "api") return null;
  const pullRequest =
    pull === null ? null : { number: pull, base: null, branch: branchOf(ref), title: null, author: null };
  const commit = subject === null ? null : { subject, author };
  return { event, before: null, pull: pullRequest, commit, schedule: null, paths: null, purpose: "build" };
};

/** The columns of a deleted build. Its number stays in use, although no row has the number any more. */
const DELETED_BUILD = `subject, json_extract(detail, '$.repoId') AS repoId, json_extract(detail, '$.number') AS number`;

const NO_BUILDS: Omit<Stored, "builds"> = { heard: null, numbers: [], removedAgents: [], revoked: [], deleted: [] };

/** Reads the builds with these ids. */
const readBuilds = async (db: D1Database, orgId: string, ids: string[]): Promise<Stored> => {
  const query = `SELECT * FROM build_summary WHERE org_id = ?1 AND id IN (SELECT value FROM json_each(?2))`;
  const { results } = await db.prepare(query).bind(orgId, JSON.stringify(ids)).all();
  return { ...NO_BUILDS, builds: results.map(toStoredBuild) };
};

/**
 * Reads everything in D1 that a pool may have forgotten if it was restored to the time `since` (milliseconds since
 * 1970): active builds, the builds with these ids, numbers, removals and revocations.
 */
const readSince = async (db: D1Database, orgId: string, since: number, ids: string[]): Promise<Stored> => {
  const first = firstIdAt(since - MARGIN_MS);
  const newer = "org_id = ?1 AND id >= ?2";
  const audited = (actions: string, columns = "subject"): D1PreparedStatement => {
    const indexed = "action NOT IN ('build.create', 'build.deliver')";
    return db.prepare(`SELECT ${columns} FROM audit_log WHERE ${newer} AND ${indexed} AND action IN (${actions})`);
  };
  const [pool, under, listed, numbers, removed, revoked, deletedBuilds, deletedLogs] = await db.batch([
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
  const subjects = (result: D1Result | undefined) =>
    ((result?.results ?? []) as { subject: string }[]).map(({ subject }) => subject);
  const builds = [under, listed]
    .flatMap((result) => (result?.results ?? []) as Record<string, unknown>[])
    .map(toStoredBuild);
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

/** The pool's state machine, for the parts that work with D1. */
export interface Machine {
  readonly orgId: string;
  readonly state: Readonly<PoolState>;
  limits: OrganizationLimits;
  step<C extends Command>(command: C, input: InputOf<C>): Result<OutputOf<C>>;
}

/** Reads from D1 the facts that D1 or this pool forgot because of a restore. */
export class Reconciler {
  readonly #db: D1Database;
  readonly #machine: Machine;
  readonly #comparing = new SingleFlight(() => this.#compare());

  constructor(db: D1Database, machine: Machine) {
    this.#db = db;
    this.#machine = machine;
  }

  /** Compares D1 with the pool, once after each load of this object. @throws if D1 does not answer */
  async compared(): Promise<void> {
    if (this.#machine.state.unchecked !== null) await this.#comparing.run();
  }

  /** Compares like `compared`, but waits for at most a second. Skips the comparison if D1 is unavailable. */
  async comparedSoon(): Promise<void> {
    if (this.#machine.state.unchecked === null) return;
    const tried = this.compared().catch((error) =>
      log.error("pool.comparison_failed", { orgId: this.#machine.orgId, error }),
    );
    await within(CALLER_WAIT_MS, tried);
  }

  /** Adopts D1's facts about these builds, which are active in D1. @throws if D1 does not answer */
  async reconcile(ids: string[]): Promise<Result<Reconciled>> {
    await this.compared();
    return this.#machine.step("reconcile", await readBuilds(this.#db, this.#machine.orgId, ids));
  }

  /** Reconciles after an operator says which side was restored. @throws if D1 does not answer */
  async restored(what: "database" | "pools"): Promise<Result<Reconciled>> {
    return what === "pools" ? this.#readAgain() : this.#machine.step("databaseRestored", null);
  }

  /** Compares the sequences of D1 and the pool. Reads the other facts if the pool was restored. */
  async #compare(): Promise<void> {
    const row = await readPoolAndLimits(this.#db, this.#machine.orgId).first<
      HeardSequence & { limits: string | null }
    >();
    const sequence = row?.sequence == null ? NOTHING_HEARD : { sequence: row.sequence, complete: row.complete };
    this.#machine.limits = effectiveLimits(row?.limits ? (JSON.parse(row.limits) as OwnLimits) : null);
    const compared = this.#machine.step("compare", { found: sequence });
    if (!compared.ok) throw new Error(compared.refusal.detail);
    if (compared.value === "pool") await this.#readAgain();
  }

  async #readAgain(): Promise<Result<Reconciled>> {
    const { orgId, state } = this.#machine;
    const ids = [...[...state.builds.keys()], ...state.outbox.lists.due.keys()];
    const remembered = await readSince(this.#db, orgId, state.unchecked ?? state.databaseSequence, ids);
    return this.#machine.step("reconcile", remembered);
  }
}
