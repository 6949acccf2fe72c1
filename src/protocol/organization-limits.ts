import * as z from "zod/mini";
import { intBetween } from "./checks.ts";

const TIB = 2 ** 40;

/**
 * What one organization may have, so that none fills what all share. 200 people with 5,000 builds a day meet none of
 * these. The operator sets others for one organization: more requests, and more or less of the rest, where 0 stops it.
 */
export const ORGANIZATION_LIMITS = {
  /** New builds of one day, UTC. */
  buildsPerDay: 20_000,
  /** Of all its tokens together, of all its hooks, and of its agents twice as many. `wrangler.toml` has the number. */
  requestsPerMinute: 10_000,
  /** In the archive: artifacts and caches. */
  storedBytes: 40 * TIB,
  tokens: 1000,
  connections: 100,
  repositories: 5000,
  pipelines: 10_000,
  groups: 2000,
} as const;

const count = () => intBetween(0, 10_000_000);

const SHAPE = {
  buildsPerDay: count(),
  // The platform counts so many under one key: a raised limit is more keys, and a lower one none less.
  requestsPerMinute: intBetween(ORGANIZATION_LIMITS.requestsPerMinute, 10_000_000),
  storedBytes: intBetween(0, 1024 * TIB),
  tokens: count(),
  connections: count(),
  repositories: count(),
  pipelines: count(),
  groups: count(),
} as const satisfies Record<keyof typeof ORGANIZATION_LIMITS, z.ZodMiniType>;

export const OrganizationLimits = z.object(SHAPE);
export type OrganizationLimits = z.infer<typeof OrganizationLimits>;
type LimitName = keyof OrganizationLimits;

type OrNull<S extends Record<string, z.ZodMiniType>> = { [F in keyof S]: z.ZodMiniOptional<z.ZodMiniNullable<S[F]>> };

/** Null is the default again. */
export const LimitsChange = z.strictObject(
  Object.fromEntries(Object.entries(SHAPE).map(([name, limit]) => [name, z.nullish(limit)])) as OrNull<typeof SHAPE>,
);

/** What is stored of an organization: the limits that differ from the defaults; null where none does. */
export type OwnLimits = Partial<OrganizationLimits> | null;

/** Every limit of an organization. */
export const limitsOf = (own: OwnLimits | undefined): OrganizationLimits => ({ ...ORGANIZATION_LIMITS, ...own });

/** What is stored after a change. A limit that is set to its default follows later defaults. */
export const changedLimits = (own: OwnLimits, change: z.infer<typeof LimitsChange>): OwnLimits => {
  const wanted = Object.entries({ ...own, ...change }) as [LimitName, number | null | undefined][];
  const others = wanted.filter(([name, limit]) => limit != null && limit !== ORGANIZATION_LIMITS[name]);
  return others.length === 0 ? null : Object.fromEntries(others.sort());
};
