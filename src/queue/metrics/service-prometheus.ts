import type { ServiceMetrics } from "../../protocol/service-metrics.ts";
import { counter, gauge, type Sample } from "./prometheus.ts";
import { dayShare, storedShare } from "./service-numbers.ts";

/** The number of organizations that are labels. It bounds the number of series. */
const LABELED_POOLS = 20;

const one = (value: number): Sample[] => [[{}, value]];
const each = (counts: Record<string, number>, label: string): Sample[] =>
  Object.entries(counts).map(([name, value]) => [{ [label]: name }, value]);
const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

const ofUpkeep = ({ isUp, upkeep, pools }: ServiceMetrics): string[] => [
  gauge("millrace_up", "1 while upkeep runs; 0 when it has not completed a run for five minutes.", one(Number(isUp))),
  gauge(
    "millrace_upkeep_age_seconds",
    "Seconds since upkeep completed a run.",
    upkeep.ageSeconds === null ? [] : one(upkeep.ageSeconds),
  ),
  gauge(
    "millrace_upkeep_set_aside",
    "Upkeep work that failed and is retried later, by kind.",
    upkeep.setAside.map(({ kind, count }) => [{ kind }, count]),
  ),
  gauge("millrace_pools_swept", "Pools that upkeep swept.", one(pools.swept)),
  gauge("millrace_pools_failed", "Pools whose sweep failed.", one(pools.failed)),
  gauge("millrace_largest_pool_bytes", "Bytes of the largest pool's storage.", one(pools.largestBytes)),
];

const ofBuilds = ({ builds, leasesLost }: ServiceMetrics): string[] => [
  gauge("millrace_service_builds_active", "Builds that have not ended.", one(builds.active)),
  gauge("millrace_service_builds_waiting", "Builds that wait for an agent.", one(builds.waiting)),
  gauge(
    "millrace_service_oldest_wait_seconds",
    "Seconds that the oldest queued build of any organization has waited.",
    one(builds.oldestWaitSeconds),
  ),
  counter(
    "millrace_builds_ended_total",
    "Builds that ended, by status and reason.",
    builds.ended.map(({ status, reason, count }) => [{ status, reason: reason ?? "" }, count]),
  ),
  counter("millrace_hand_outs_total", "Builds that an agent received.", one(builds.handOuts)),
  counter(
    "millrace_offers_ignored_total",
    "Offers that a waiting agent did not take within 2 s.",
    one(builds.offersIgnored),
  ),
  counter("millrace_requeues_total", "Builds that went back into the queue.", one(builds.requeues)),
  counter("millrace_leases_lost_total", "Leases that ended without a result, by cause.", each(leasesLost, "cause")),
];

const ofStores = ({ outbox, database, pools }: ServiceMetrics): string[] => [
  gauge(
    "millrace_outbox_age_seconds",
    "Age of the oldest change not yet delivered to D1, the archive or a log.",
    one(outbox.ageSeconds),
  ),
  gauge(
    "millrace_outbox_failures",
    "Consecutive attempts of one pool that did not deliver everything.",
    one(outbox.failures),
  ),
  gauge("millrace_dead_letters", "Rows that can never be delivered.", one(total(outbox.deadLetters))),
  gauge("millrace_database_bytes", "Bytes of the D1 database.", one(database.bytes)),
  gauge("millrace_database_limit_bytes", "Bytes at which a D1 database is full.", one(database.limitBytes)),
  gauge("millrace_database_nearly_full", "1 from 70 % of the limit on.", one(Number(database.isNearlyFull))),
  gauge("millrace_database_rows", "Rows by table, counted once a day.", each(database.rows, "table")),
  gauge(
    "millrace_pool_outbox_age_seconds",
    "Age of the outbox of the pools that are furthest behind.",
    pools.notable.slice(0, LABELED_POOLS).map(({ orgId, outboxSeconds }) => [{ org: orgId }, outboxSeconds]),
  ),
  gauge(
    "millrace_pool_oldest_wait_seconds",
    "Oldest wait in the pools that are furthest behind.",
    pools.notable.slice(0, LABELED_POOLS).map(({ orgId, oldestWaitSeconds }) => [{ org: orgId }, oldestWaitSeconds]),
  ),
];

const ofOrganizations = ({ organizations, stores }: ServiceMetrics): string[] => [
  gauge(
    "millrace_organization_builds_today",
    "Builds created today (UTC) in the organizations nearest to their limit.",
    organizations.map(({ orgId, buildsToday }) => [{ org: orgId }, buildsToday]),
  ),
  gauge(
    "millrace_organization_limit_share",
    "The share of its limit that each of them has used; from 1 on, the service rejects more.",
    [
      ...organizations.map((one): Sample => [{ org: one.orgId, limit: "buildsPerDay" }, dayShare(one)]),
      ...stores.map((one): Sample => [{ org: one.orgId, limit: "storedBytes" }, storedShare(one)]),
    ],
  ),
  gauge(
    "millrace_organization_stored_bytes",
    "Bytes of artifacts and caches of the organizations nearest to their limit.",
    stores.map(({ orgId, storedBytes }) => [{ org: orgId }, storedBytes]),
  ),
];

/** Formats the whole deployment's numbers in the Prometheus text format 0.0.4. */
export const toServicePrometheus = (metrics: ServiceMetrics): string =>
  [...ofUpkeep(metrics), ...ofBuilds(metrics), ...ofStores(metrics), ...ofOrganizations(metrics)].join("");
