import type { BuildReason } from "../../protocol/build.ts";
import type { EndedStatus } from "../../protocol/build-states.ts";
import { ORGANIZATION_LIMITS } from "../../protocol/organization.ts";
import type { OrganizationDay, OrganizationStore } from "../../protocol/service-metrics.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { type LossCause, toDayNumber } from "../state/counts.ts";
import type { PoolNumbers } from "../state/numbers.ts";

/** The number of organizations that appear by name, in each row of numbers and as a label. */
const NAMED_ORGANIZATIONS = 20;

/** Today's builds in the organizations nearest to their limit, the nearest organization first. */
interface ServiceDay {
  /** The day (UTC), in days since 1970. */
  day: number;
  organizations: OrganizationDay[];
}

export const dayShare = ({ buildsToday, buildsPerDay }: OrganizationDay): number =>
  buildsPerDay > 0 ? buildsToday / buildsPerDay : Number(buildsToday > 0);

/** Merges the swept pools' numbers into the previous numbers. A pool that is not swept has created no builds since. */
export const addDay = (
  before: ServiceDay | undefined,
  pools: { orgId: string; numbers: Pick<PoolNumbers, "buildsToday" | "buildsPerDay"> }[],
  now: number,
): ServiceDay => {
  const day = toDayNumber(now);
  const byOrganization = new Map((before?.day === day ? before.organizations : []).map((one) => [one.orgId, one]));
  for (const { orgId, numbers } of pools) {
    const { buildsToday, buildsPerDay = byOrganization.get(orgId)?.buildsPerDay ?? ORGANIZATION_LIMITS.buildsPerDay } =
      numbers;
    byOrganization.set(orgId, { orgId, buildsToday, buildsPerDay });
  }
  const organizations = [...byOrganization.values()]
    .filter(({ buildsToday }) => buildsToday > 0)
    .sort((one, other) => dayShare(other) - dayShare(one) || other.buildsToday - one.buildsToday)
    .slice(0, NAMED_ORGANIZATIONS);
  return { day, organizations };
};
/**
 * Milliseconds of a pool's silence after which the service no longer lists the pool's organization, which may be
 * deleted.
 */
const KNOWN_MS = 7 * DAY_MS;

/** The organization's storage. `at` is the time at which its pool reported this, in milliseconds since 1970. */
type KnownStore = OrganizationStore & { at: number };

export const storedShare = ({ storedBytes, mostStoredBytes }: OrganizationStore): number =>
  mostStoredBytes > 0 ? storedBytes / mostStoredBytes : Number(storedBytes > 0);

/** Merges the swept pools' numbers into the list of organizations nearest to their storage limit. */
export const addStored = (
  before: KnownStore[],
  pools: { orgId: string; numbers: Pick<PoolNumbers, "storedBytes" | "mostStoredBytes"> }[],
  now: number,
): KnownStore[] => {
  const byOrganization = new Map(before.map((one) => [one.orgId, one]));
  for (const { orgId, numbers } of pools) {
    const {
      storedBytes,
      mostStoredBytes = byOrganization.get(orgId)?.mostStoredBytes ?? ORGANIZATION_LIMITS.storedBytes,
    } = numbers;
    byOrganization.set(orgId, { orgId, storedBytes, mostStoredBytes, at: now });
  }
  return [...byOrganization.values()]
    .filter(({ storedBytes, at }) => storedBytes > 0 && at > now - KNOWN_MS)
    .sort((one, other) => storedShare(other) - storedShare(one) || other.storedBytes - one.storedBytes)
    .slice(0, NAMED_ORGANIZATIONS);
};

/** The number of pools that appear by name. It bounds the labels of a deployment with many pools. */
const NAMED_POOLS = 20;
/** Seconds of delay from which a pool appears by name. Nobody has to act on a shorter delay. */
const NOTABLE_SECONDS = 30;
/** The number of pools whose dead letters the service remembers. */
const DEAD_LETTER_POOLS = 1000;

interface NamedPool {
  orgId: string;
  outboxSeconds: number;
  oldestWaitSeconds: number;
  waiting: number;
}

interface EndedCount {
  status: EndedStatus;
  reason: BuildReason | null;
  count: number;
}

/** Events since the deployment began to count. Each run adds the events that the pools reported. */
interface Totals {
  ended: EndedCount[];
  leasesLost: Record<LossCause, number>;
  requeues: number;
  handOuts: number;
  offersIgnored: number;
}

/** The pools' state in one run of upkeep. */
interface PoolGauges {
  swept: number;
  /** The number of pools whose sweep failed. */
  failed: number;
  active: number;
  waiting: number;
  oldestWaitSeconds: number;
  outboxSeconds: number;
  outboxFailures: number;
  largestPoolBytes: number;
  named: NamedPool[];
}

/** One row of `service_metric`. */
export interface ServiceNumbers {
  /** Milliseconds since 1970. */
  at: number;
  /** The number of runs that together sweep each busy pool once. The gauges of this many rows cover all pools. */
  rounds: number;
  gauges: PoolGauges;
  /** The number of dead letters by organization. Contains only pools that have dead letters. */
  deadLetters: Record<string, number>;
  /** Today's builds; absent in rows of older releases. */
  today?: ServiceDay;
  stored?: KnownStore[];
  totals: Totals;
  databaseBytes: number;
}

export interface SweptPool {
  orgId: string;
  numbers: PoolNumbers;
}

export const NO_TOTALS: Totals = {
  ended: [],
  leasesLost: { expired: 0, removed: 0, restarted: 0, stopped: 0 },
  requeues: 0,
  handOuts: 0,
  offersIgnored: 0,
};

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/** Returns the pools that may need attention, the worst first. */
const worst = (pools: NamedPool[]): NamedPool[] =>
  pools
    .filter((pool) => Math.max(pool.outboxSeconds, pool.oldestWaitSeconds) >= NOTABLE_SECONDS)
    .sort((a, b) => b.outboxSeconds - a.outboxSeconds || b.oldestWaitSeconds - a.oldestWaitSeconds)
    .slice(0, NAMED_POOLS);

export const toGauges = (pools: SweptPool[], failed: number): PoolGauges => {
  const each = (value: (numbers: PoolNumbers) => number) => pools.map(({ numbers }) => value(numbers));
  return {
    swept: pools.length,
    failed,
    active: sum(each(({ active }) => active)),
    waiting: sum(each(({ waiting }) => waiting)),
    oldestWaitSeconds: Math.max(0, ...each(({ oldestWaitSeconds }) => oldestWaitSeconds)),
    outboxSeconds: Math.max(0, ...each(({ outboxSeconds }) => outboxSeconds)),
    outboxFailures: Math.max(0, ...each(({ outboxFailures }) => outboxFailures)),
    largestPoolBytes: Math.max(0, ...each(({ databaseBytes }) => databaseBytes)),
    named: worst(
      pools.map(({ orgId, numbers: { outboxSeconds, oldestWaitSeconds, waiting } }) => ({
        orgId,
        outboxSeconds,
        oldestWaitSeconds,
        waiting,
      })),
    ),
  };
};

/** Merges the gauges of runs that swept different pools. */
export const mergeGauges = (runs: PoolGauges[]): PoolGauges => {
  const each = (value: (gauges: PoolGauges) => number) => runs.map(value);
  return {
    swept: sum(each(({ swept }) => swept)),
    failed: sum(each(({ failed }) => failed)),
    active: sum(each(({ active }) => active)),
    waiting: sum(each(({ waiting }) => waiting)),
    oldestWaitSeconds: Math.max(0, ...each(({ oldestWaitSeconds }) => oldestWaitSeconds)),
    outboxSeconds: Math.max(0, ...each(({ outboxSeconds }) => outboxSeconds)),
    outboxFailures: Math.max(0, ...each(({ outboxFailures }) => outboxFailures)),
    largestPoolBytes: Math.max(0, ...each(({ largestPoolBytes }) => largestPoolBytes)),
    named: worst(runs.flatMap(({ named }) => named)),
  };
};

const addEnds = (before: EndedCount[], more: EndedCount[]): EndedCount[] =>
  [...Map.groupBy([...before, ...more], ({ status, reason }) => `${status} ${reason}`).values()].map((same) => ({
    ...same[0]!,
    count: sum(same.map(({ count }) => count)),
  }));

/** Adds the pools' new events to the totals. A pool reports each event once. */
export const addTotals = (before: Totals, pools: SweptPool[]): Totals => {
  const countLost = (cause: LossCause) =>
    before.leasesLost[cause] + sum(pools.map(({ numbers }) => numbers.leasesLost[cause]));
  return {
    ended: addEnds(
      before.ended,
      pools.flatMap(({ numbers }) => numbers.ended),
    ),
    leasesLost: {
      expired: countLost("expired"),
      removed: countLost("removed"),
      restarted: countLost("restarted"),
      stopped: countLost("stopped"),
    },
    requeues: before.requeues + sum(pools.map(({ numbers }) => numbers.requeues)),
    handOuts: before.handOuts + sum(pools.map(({ numbers }) => numbers.handOuts)),
    offersIgnored: before.offersIgnored + sum(pools.map(({ numbers }) => numbers.offersIgnored)),
  };
};

/** Updates the dead letters by organization with the swept pools' numbers. */
export const addDeadLetters = (before: Record<string, number>, pools: SweptPool[]): Record<string, number> => {
  const counts = new Map(Object.entries(before));
  for (const { orgId, numbers } of pools) {
    if (numbers.deadLetters > 0) counts.set(orgId, numbers.deadLetters);
    else counts.delete(orgId);
  }
  return Object.fromEntries([...counts].slice(0, DEAD_LETTER_POOLS));
};
