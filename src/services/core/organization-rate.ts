import { eq } from "drizzle-orm";
import { databaseOf } from "../../db/database-of.ts";
import { organization } from "../../db/schema.ts";
import { DatabaseSession } from "../../db/session.ts";
import { withCommas } from "../../protocol/limits.ts";
import { limitsOf, ORGANIZATION_LIMITS, type OrganizationLimits } from "../../protocol/organization.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { Refusal } from "./refusal.ts";

/** Milliseconds for which an isolate remembers what the operator has set. */
const KNOWN_MS = MINUTE_MS;

const limitsByOrganization = new Map<string, { limits: OrganizationLimits; until: number }>();

/**
 * The limits of an organization, for requests that ask the database nothing else: up to a minute old. While the
 * database is away they are the last that were read, or the defaults, so that builds go on.
 */
const rememberedLimits = async (db: DatabaseSession, orgId: string): Promise<OrganizationLimits> => {
  const before = limitsByOrganization.get(orgId);
  if (before && before.until > Date.now()) return before.limits;
  const query = db.sql.select({ limits: organization.limits }).from(organization).where(eq(organization.id, orgId));
  try {
    const [[row]] = await db.run(query);
    const limits = limitsOf(row?.limits);
    limitsByOrganization.set(orgId, { limits, until: Date.now() + KNOWN_MS });
    return limits;
  } catch {
    return before?.limits ?? limitsOf(null);
  }
};

const WINDOW_SECONDS = 60;

/** What the binding counts under one key: it has one limit for all, which `wrangler.toml` has too. */
const UNIT = ORGANIZATION_LIMITS.requestsPerMinute;

/**
 * Keys under which an organization's requests of each kind are counted. No kind uses up what another has: a script in a
 * loop stops neither builds nor pushes. Agents have two, because they ask the database least.
 */
const KEYS = { tokens: 1, hooks: 1, agents: 2 } as const;
export type RequestKind = keyof typeof KEYS;

/** What an organization may send of this kind in a minute, unless the operator has raised it. */
export const organizationRate = (kind: RequestKind): number => KEYS[kind] * UNIT;

const randomBetween = (from: number, to: number): number => from + Math.floor(Math.random() * (to - from));

/**
 * Counts a request of an organization, after its token or hook was counted: so one of them that sends too much does
 * not use up what all have. A raised limit is more keys, of which a request takes one at random once the first are full.
 * @throws Refusal rate-limited
 */
export const checkOrganizationRate = async (env: Env, orgId: string, kind: RequestKind): Promise<void> => {
  const binding = env.ORGANIZATION_RATE;
  if (!binding || orgId === "") return;
  const isCounted = async (key: number) => (await binding.limit({ key: `${kind} of ${orgId} ${key}` })).success;
  const keys = KEYS[kind];
  if (await isCounted(randomBetween(0, keys))) return;
  const db = new DatabaseSession(databaseOf(env, orgId), "first-unconstrained");
  const limit = keys * (await rememberedLimits(db, orgId)).requestsPerMinute;
  const raisedKeys = Math.ceil(limit / UNIT);
  if (raisedKeys > keys && (await isCounted(randomBetween(keys, raisedKeys)))) return;
  const most = `${withCommas(limit)} requests a minute`;
  throw new Refusal(
    "rate-limited",
    `All ${kind} of this organization together may send ${most}. Ask the operator of the service to raise it.`,
    { retryAfterSeconds: WINDOW_SECONDS },
  );
};
