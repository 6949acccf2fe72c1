import { ORGANIZATION_LIMITS } from "../../protocol/organization.ts";
import type { OrganizationDay } from "../../protocol/service-metrics.ts";
import { dayNumberOf } from "../state/counts.ts";
import type { PoolNumbers } from "../state/numbers.ts";

/** Organizations that are named: each is in every row of numbers, and a label. */
const NAMED = 20;

/** What the organizations that are nearest to their limit made of it today, the nearest first. */
export interface ServiceDay {
  /** UTC, days since 1970. */
  day: number;
  organizations: OrganizationDay[];
}

export const dayShare = ({ buildsToday, buildsPerDay }: OrganizationDay): number =>
  buildsPerDay > 0 ? buildsToday / buildsPerDay : Number(buildsToday > 0);

/** Those of before, with what the swept pools say now. A pool that nobody sweeps has made no build since. */
export const addDay = (
  before: ServiceDay | undefined,
  pools: { orgId: string; numbers: Pick<PoolNumbers, "buildsToday" | "buildsPerDay"> }[],
  now: number,
): ServiceDay => {
  const day = dayNumberOf(now);
  const byOrganization = new Map((before?.day === day ? before.organizations : []).map((one) => [one.orgId, one]));
  for (const { orgId, numbers } of pools) {
    const { buildsToday, buildsPerDay = byOrganization.get(orgId)?.buildsPerDay ?? ORGANIZATION_LIMITS.buildsPerDay } =
      numbers;
    byOrganization.set(orgId, { orgId, buildsToday, buildsPerDay });
  }
  const organizations = [...byOrganization.values()]
    .filter(({ buildsToday }) => buildsToday > 0)
    .sort((one, other) => dayShare(other) - dayShare(one) || other.buildsToday - one.buildsToday)
    .slice(0, NAMED);
  return { day, organizations };
};
