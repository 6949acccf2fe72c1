import { sql } from "drizzle-orm";
import { DATABASE_LIMIT_BYTES, ServiceMetrics } from "../../protocol/service-metrics.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { mergeGauges, NO_TOTALS, type ServiceNumbers } from "../../queue/metrics/service-numbers.ts";
import { toServicePrometheus } from "../../queue/metrics/service-prometheus.ts";
import { toDayNumber } from "../../queue/state/counts.ts";
import type { Context } from "../core/context.ts";
import { verb } from "../core/verb.ts";
import { rowCounts } from "../upkeep/row-counts.ts";

/** Seconds without a run of upkeep after which the service does not count as up. */
const UP_SECONDS = 300;
/** The share of the database's limit above which the database is nearly full. */
const NEARLY_FULL = 0.7;

type SetAside = ServiceMetrics["upkeep"]["setAside"][number];

/** Selects the newest numbers of every pool. If there are many pools, the numbers are from several runs. */
const NEWEST = sql`SELECT facts FROM service_metric ORDER BY minute DESC
  LIMIT coalesce((SELECT json_extract(facts, '$.rounds') FROM service_metric ORDER BY minute DESC LIMIT 1), 1)`;

const measure = async ({ db, now }: Context): Promise<ServiceMetrics> => {
  const [rows, setAside, counting] = await db.run(
    db.statement<{ facts: string }>(NEWEST),
    db.statement<SetAside>(
      sql`SELECT kind, count(*) AS count, max(tries) AS mostTries FROM upkeep_failure
        WHERE kind <> 'turn' GROUP BY kind ORDER BY kind`,
    ),
    db.statement<{ place: string }>(
      sql`SELECT reason AS place FROM upkeep_failure WHERE kind = 'turn' AND subject = 'countRows'`,
    ),
  );
  const runs = rows.results.map(({ facts }) => JSON.parse(facts) as ServiceNumbers);
  const [newest] = runs;
  const gauges = mergeGauges(runs.map((run) => run.gauges));
  const { leasesLost, ...totals } = newest?.totals ?? NO_TOTALS;
  const ageSeconds = newest ? Math.max(0, (now.getTime() - newest.at) / SECOND_MS) : null;
  const bytes = rows.meta.size_after;
  const counted = rowCounts(counting.results[0]?.place ?? "");
  return {
    isUp: ageSeconds !== null && ageSeconds < UP_SECONDS,
    upkeep: { lastRunAt: toTimestamp(newest?.at), ageSeconds, setAside: setAside.results },
    pools: {
      swept: gauges.swept,
      failed: gauges.failed,
      largestBytes: gauges.largestPoolBytes,
      notable: gauges.named,
    },
    builds: {
      active: gauges.active,
      waiting: gauges.waiting,
      oldestWaitSeconds: gauges.oldestWaitSeconds,
      ...totals,
    },
    organizations: newest?.today?.day === toDayNumber(now.getTime()) ? newest.today.organizations : [],
    stores: (newest?.stored ?? []).map(({ at: _, ...store }) => store),
    leasesLost,
    outbox: {
      ageSeconds: gauges.outboxSeconds,
      failures: gauges.outboxFailures,
      deadLetters: newest?.deadLetters ?? {},
    },
    database: {
      bytes,
      limitBytes: DATABASE_LIMIT_BYTES,
      isNearlyFull: bytes >= NEARLY_FULL * DATABASE_LIMIT_BYTES,
      rowsCountedAt: toTimestamp(counted.at),
      rows: counted.tables,
    },
  };
};

const toTimestamp = (at: number | null = null): string | null => (at === null ? null : new Date(at).toISOString());

/** Reads the numbers that upkeep wrote. A query to each pool would wake the pools. */
export const jsonServiceMetrics = verb({
  access: { operator: true },
  output: ServiceMetrics,
  async run(context) {
    await context.admit();
    return measure(context);
  },
});

/** Returns the metrics as text for Prometheus. */
export const servicePrometheusText = async (context: Context): Promise<string> => {
  await context.admit();
  return toServicePrometheus(await measure(context));
};
