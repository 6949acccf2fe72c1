import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ServiceMetrics } from "../../../src/protocol/service-metrics.ts";
import {
  addDay,
  addDeadLetters,
  addStored,
  addTotals,
  mergeGauges,
  NO_TOTALS,
  type SweptPool,
  toGauges,
} from "../../../src/queue/metrics/service-numbers.ts";
import { toServicePrometheus } from "../../../src/queue/metrics/service-prometheus.ts";
import type { PoolNumbers } from "../../../src/queue/state/numbers.ts";

const pool = (orgId: string, change: Partial<PoolNumbers> = {}): SweptPool => ({
  orgId,
  numbers: {
    ...{ active: 1, waiting: 1, oldestWaitSeconds: 0, outboxSeconds: 0, outboxFailures: 0 },
    ...{ deadLetters: 0, databaseBytes: 4096, storedBytes: 0, hasOldRows: false, buildsToday: 0 },
    ...{ ended: [], leasesLost: { expired: 0, removed: 0, restarted: 0, stopped: 0 } },
    ...{ requeues: 0, handOuts: 0, offersIgnored: 0 },
    ...change,
  },
});
const succeeded = (count: number) => ({ ended: [{ status: "succeeded" as const, reason: null, count }] });

const METRICS: ServiceMetrics = {
  isUp: true,
  upkeep: {
    lastRunAt: "2026-11-22T05:00:00.000Z",
    ageSeconds: 12,
    setAside: [{ kind: "sweep", count: 2, mostTries: 5 }],
  },
  pools: {
    ...{ swept: 2, failed: 0, largestBytes: 4096 },
    notable: [{ orgId: 'a"b', waiting: 3, oldestWaitSeconds: 40, outboxSeconds: 61.5 }],
  },
  builds: {
    ...{ active: 4, waiting: 3, oldestWaitSeconds: 40, requeues: 1, handOuts: 9, offersIgnored: 1 },
    ended: [{ status: "failed", reason: "timeout", count: 2 }],
  },
  stores: [{ orgId: "full", storedBytes: 30, mostStoredBytes: 40 }],
  organizations: [{ orgId: "busy", buildsToday: 16_000, buildsPerDay: 20_000 }],
  leasesLost: { expired: 1, removed: 0, restarted: 0, stopped: 0 },
  outbox: { ageSeconds: 61.5, failures: 3, deadLetters: { a: 2, b: 1 } },
  database: { bytes: 7e9, limitBytes: 1e10, isNearlyFull: true, rowsCountedAt: null, rows: { build_summary: 5 } },
};

describe("the metrics of all pools", () => {
  it("add up the values of each pool once", () => {
    const first = addTotals(NO_TOTALS, [pool("a", succeeded(2)), pool("b", { ...succeeded(1), requeues: 1 })]);
    const leasesLost = { expired: 1, removed: 0, restarted: 0, stopped: 2 };
    const second = addTotals(first, [pool("a", { ...succeeded(1), leasesLost, handOuts: 3, offersIgnored: 1 })]);
    expect(second).toEqual({
      ...succeeded(4),
      ...{ leasesLost, requeues: 1, handOuts: 3, offersIgnored: 1 },
    });
  });

  it("name the pools that are furthest behind, at most 20", () => {
    const pools = Array.from({ length: 50 }, (_, n) => pool(`org-${n}`, { outboxSeconds: n }));
    const runs = [toGauges(pools.slice(0, 25), 1), toGauges(pools.slice(25), 0)];
    const all = mergeGauges(runs);
    expect(all).toMatchObject({ swept: 50, failed: 1, active: 50, outboxSeconds: 49 });
    expect(all.named.map(({ orgId }) => orgId)).toEqual(Array.from({ length: 20 }, (_, n) => `org-${49 - n}`));
  });

  it("keep the dead letters of pools that were not swept recently", () => {
    const found = addDeadLetters({ quiet: 3, mended: 1 }, [pool("mended"), pool("new", { deadLetters: 2 })]);
    expect(found).toEqual({ quiet: 3, new: 2 });
  });
});

describe("the metrics of today's builds", () => {
  const NOON = Date.UTC(2026, 4, 4, 12);
  const today = (buildsToday: number, buildsPerDay = 20_000) => ({ buildsToday, buildsPerDay });

  it("name the 20 of 1,000 organizations nearest to their limit, in any order of the runs", () => {
    const pools = Array.from({ length: 1000 }, (_, n) => pool(`org-${n}`, today(n)));
    const near = pool("near", today(90, 100));
    let found = addDay(undefined, [near], NOON);
    for (let from = 0; from < 1000; from += 250) found = addDay(found, pools.slice(from, from + 250), NOON);
    expect(found.organizations.map(({ orgId }) => orgId)).toEqual([
      "near",
      ...Array.from({ length: 19 }, (_, n) => `org-${999 - n}`),
    ]);
    const text = toServicePrometheus({ ...METRICS, organizations: found.organizations, stores: [] });
    expect(text.match(/^millrace_organization_.*$/gm)).toHaveLength(40);
    expect(text).toContain('millrace_organization_limit_share{org="near",limit="buildsPerDay"} 0.9\n');
  });

  it("remain while a pool is not swept, keep a limit that a pool does not know, and end with the day", () => {
    const first = addDay(undefined, [pool("a", today(5, 10)), pool("idle")], NOON);
    expect(first.organizations).toEqual([{ orgId: "a", ...today(5, 10) }]);
    const later = addDay(first, [pool("b", today(1)), pool("a", { buildsToday: 6 })], NOON + 60_000);
    expect(later.organizations).toEqual([
      { orgId: "a", ...today(6, 10) },
      { orgId: "b", ...today(1) },
    ]);
    expect(addDay(later, [], NOON + 86_400_000).organizations).toEqual([]);
  });

  it("have a share of one for an organization that may create no builds", () => {
    const { organizations } = addDay(undefined, [pool("stopped", today(3, 0))], NOON);
    expect(toServicePrometheus({ ...METRICS, organizations })).toContain('{org="stopped",limit="buildsPerDay"} 1\n');
  });
});

describe("the metrics of stored bytes", () => {
  const NOW = Date.UTC(2026, 4, 4, 12);
  const stored = (storedBytes: number, mostStoredBytes = 2000) => ({ storedBytes, mostStoredBytes });

  it("name the 20 of 1,000 organizations nearest to their limit, except those silent for a week", () => {
    const pools = Array.from({ length: 1000 }, (_, n) => pool(`org-${n}`, stored(n)));
    const near = addStored([], [pool("near", stored(90, 100)), pool("empty", stored(0))], NOW);
    const found = addStored(near, pools, NOW + 1);
    const names = ["near", ...Array.from({ length: 19 }, (_, n) => `org-${999 - n}`)];
    expect(found.map(({ orgId }) => orgId)).toEqual(names);
    const text = toServicePrometheus({ ...METRICS, organizations: [], stores: found });
    expect(text).toContain('millrace_organization_limit_share{org="near",limit="storedBytes"} 0.9\n');
    expect(text.match(/^millrace_organization_.*$/gm)).toHaveLength(40);
    expect(addStored(found, [], NOW + 7 * 86_400_000).map(({ orgId }) => orgId)).toEqual(names.slice(1));
  });
});

describe("the metrics of all pools for Prometheus", () => {
  const text = toServicePrometheus(METRICS);
  const names = new Set([...text.matchAll(/^# TYPE (\S+) (?:gauge|counter)$/gm)].map((match) => match[1]));

  it("have a help, a type, and samples that parse", () => {
    const lines = text.trimEnd().split("\n");
    const wrong = lines.filter(
      (line) => !/^(# (HELP|TYPE) \w+ .+|\w+\{(\w+="(\\.|[^"\\])*",?)*\} -?[0-9.e+]+)$/.test(line),
    );
    expect(wrong).toEqual([]);
    expect(text).toContain('millrace_pool_outbox_age_seconds{org="a\\"b"} 61.5\n');
    expect(text).toContain("millrace_dead_letters{} 3\n");
    expect(text).toContain("millrace_database_nearly_full{} 1\n");
  });

  const named = (query: string): string[] => query.match(/\bmillrace_\w+/g) ?? [];

  it("match the board of docs/grafana.json", () => {
    const board = JSON.parse(readFileSync("docs/grafana.json", "utf8")) as {
      panels: { id: number; targets: { expr: string }[] }[];
    };
    const drawn = board.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => named(expr)));
    expect(drawn.length).toBeGreaterThan(15);
    expect(drawn.filter((name) => !names.has(name))).toEqual([]);
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
  });

  it("match the names in docs/operations.md", () => {
    const told = named(readFileSync("docs/operations.md", "utf8"));
    expect(told.length).toBeGreaterThan(8);
    expect(told.filter((name) => !names.has(name))).toEqual([]);
  });

  it("have alerts with a meaning, commands and data loss in docs/operations.md", () => {
    const [, alerts = "", parts = ""] = readFileSync("docs/operations.md", "utf8").split(
      /^## (?:Goals and alerts|When a goal is missed)$/m,
    );
    const linked = [...alerts.matchAll(/\]\(#([^)]+)\) \|$/gm)].map((match) => match[1]);
    const sections = parts.split(/^## /m)[0]!.split(/^### /m).slice(1);
    const anchors = sections.map((section) => section.split("\n")[0]!.toLowerCase().replaceAll(" ", "-"));
    expect(anchors).toEqual(linked);
    const incomplete = sections.filter(
      (section) => !/```sh\n|as above/.test(section) || !/\blost\b|\blacks\b/i.test(section),
    );
    expect(incomplete).toEqual([]);
  });
});
