import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  asksPool,
  asksStore,
  type BuildQuery,
  matches,
  mergePage,
  type QueriedBuild,
} from "../../src/domain/build-list.ts";
import { ACTIVE, type BuildStatus, ENDED, isActive, isEnded, STATUSES } from "../../src/protocol/build-states.ts";

const REFS = ["refs/heads/main", "refs/tags/v1"];
const AGENTS = ["a1", "a2", null];
const MOST = 10;

const idOf = (n: number): string => `0198c5d2-0000-7000-8000-${String(n).padStart(12, "0")}`;

interface Build extends QueriedBuild {
  version: number;
}

/** One build, as the pool and D1 know it; null if one of them does not. */
interface Known {
  pool: Build | null;
  store: Build | null;
  /** Whether the pool has reported the build's end to D1. */
  isTold: boolean;
}

const facts = fc.record({ ref: fc.constantFrom(...REFS), commitSha: fc.constantFrom("abc1234f", "abd0000f", null) });
const state = (statuses: BuildStatus[]) =>
  fc.record({ status: fc.constantFrom(...statuses), agentId: fc.constantFrom(...AGENTS) });
const [anyActive, anyEnded] = [state(ACTIVE), state(ENDED)];

/**
 * Active or ended, reported or not, outdated or missing in D1, known to one side only, or reset by a restore of the
 * pool.
 */
const lives: fc.Arbitrary<(of: Omit<Build, "status" | "agentId" | "version">) => Known>[] = [
  fc.tuple(anyActive, fc.option(anyActive)).map(([now, before]) => (of) => ({
    pool: { ...of, ...now, version: 2 },
    store: before && { ...of, ...before, version: 1 },
    isTold: false,
  })),
  fc.tuple(anyEnded, fc.option(anyActive)).map(([now, before]) => (of) => ({
    pool: { ...of, ...now, version: 2 },
    store: before && { ...of, ...before, version: 1 },
    isTold: false,
  })),
  fc.tuple(anyEnded, fc.boolean()).map(([now, isRemembered]) => (of) => ({
    pool: isRemembered ? { ...of, ...now, version: 2 } : null,
    store: { ...of, ...now, version: 2 },
    isTold: true,
  })),
  // The pool reported the end between the query to D1 and the one to the pool.
  fc.tuple(anyEnded, anyActive).map(([now, before]) => (of) => ({
    pool: { ...of, ...now, version: 2 },
    store: { ...of, ...now, status: before.status, version: 1 },
    isTold: true,
  })),
  anyActive.map((now) => (of) => ({ pool: null, store: { ...of, ...now, version: 1 }, isTold: false })),
  fc.tuple(anyActive, anyEnded).map(([now, after]) => (of) => ({
    pool: { ...of, ...now, version: 2 },
    store: { ...of, ...now, status: after.status, version: 3 },
    isTold: false,
  })),
];

const MADE_BY_REQUEST = { event: "api", trigger: "api", author: null, pull: null } as const;

const builds = fc
  .array(fc.tuple(facts, fc.oneof(...lives)), { maxLength: MOST, size: "max" })
  .map((all) =>
    all.map(([{ ref, commitSha }, life], n) =>
      life({ id: idOf(n), repoId: "r", pipelineId: null, ref, commitSha, queuedAt: n, ...MADE_BY_REQUEST }),
    ),
  );

const agentId = fc.constantFrom("a1", "a2");
const query: fc.Arbitrary<BuildQuery> = fc.oneof(
  fc.record({ agentId }, { requiredKeys: [] }),
  fc.record(
    {
      ref: fc.constantFrom(...REFS),
      refs: fc.subarray(REFS),
      commitSha: fc.constantFrom("abc1234", "ab"),
      status: fc.constantFrom(...STATUSES),
      agentId,
      since: fc.nat(MOST),
      until: fc.nat(MOST),
      before: fc.nat(MOST).map(idOf),
    },
    { requiredKeys: [] },
  ),
);

const newest = (found: Build[], query: BuildQuery): Build[] =>
  found.filter((build) => matches(build, query)).sort((a, b) => (a.id < b.id ? 1 : -1));

/** Returns the expected build: the newer of the pool's and D1's versions. */
const shown = ({ pool, store }: Known): Build =>
  (pool && pool.version > (store?.version ?? 0) ? pool : store!) ?? pool!;

const expected = (known: Known[], query: BuildQuery): Build[] => {
  if (query.status !== undefined && isEnded(query.status))
    return newest(
      known.flatMap(({ store }) => store ?? []),
      query,
    );
  if (query.status !== undefined)
    return newest(
      known.flatMap(({ pool }) => pool ?? []),
      query,
    );
  return newest(known.map(shown), query);
};

/** Reads the list page by page, as the service does. Counts the queries to the pool. */
const readAll = (known: Known[], wanted: BuildQuery, limit: number) => {
  const seen: Build[] = [];
  let asked = 0;
  let pages = 0;
  let before = wanted.before;
  for (let isPastLive = false, isLast = false; !isLast; pages++) {
    const query = { ...wanted, before };
    const stored = asksStore(query)
      ? newest(
          known.flatMap(({ store }) => store ?? []),
          query,
        )
      : [];
    const rows = stored.slice(0, limit + 1);
    const live: Build[] = [];
    if (asksPool(query, isPastLive, rows)) {
      asked++;
      const untold = known.filter(({ pool, isTold }) => pool && (isActive(pool.status) || !isTold));
      live.push(
        ...newest(
          untold.flatMap(({ pool }) => pool ?? []),
          query,
        ).slice(0, limit + 1),
      );
      const ids = new Set(rows.filter(({ status }) => isActive(status)).map(({ id }) => id));
      live.push(...known.flatMap(({ pool }) => (pool && ids.has(pool.id) && !live.includes(pool) ? [pool] : [])));
    }
    const page = mergePage({ query, limit, rows, live });
    expect(page.builds.length).toBeLessThanOrEqual(limit);
    seen.push(...page.builds);
    isPastLive ||= page.isPastLive && asksPool(query, isPastLive, rows);
    isLast = page.next === null;
    before = page.next ?? undefined;
    expect(pages).toBeLessThan(3 * MOST);
  }
  return { seen, asked, pages };
};

describe("a list of builds", () => {
  it("has each build once, in its newest state, whatever D1 knows about it, on pages of any length", () => {
    fc.assert(
      fc.property(builds, query, fc.integer({ min: 1, max: 4 }), (known, wanted, limit) => {
        expect(readAll(known, wanted, limit).seen).toEqual(expected(known, wanted));
      }),
      { numRuns: 20_000 },
    );
  });

  it("stops querying the pool once all older builds have ended", () => {
    const ended: Known[] = Array.from({ length: MOST }, (_, n) => {
      const build: Build = {
        ...{ id: idOf(n), repoId: "r", pipelineId: null, ref: "refs/heads/main", commitSha: null },
        ...{
          ...MADE_BY_REQUEST,
          status: n === MOST - 1 ? "running" : "failed",
          agentId: "a1",
          queuedAt: n,
          version: 1,
        },
      };
      return { pool: n === MOST - 1 ? build : null, store: build, isTold: true };
    });
    expect(readAll(ended, {}, 2)).toMatchObject({ asked: 1, pages: 5 });
    expect(readAll(ended, { status: "failed" }, 2).asked).toBe(0);
  });
});
