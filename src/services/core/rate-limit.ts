import { eq } from "drizzle-orm";
import type { Config } from "../../config.ts";
import { databaseOf } from "../../db/database-of.ts";
import { organization } from "../../db/schema.ts";
import { DatabaseSession } from "../../db/session.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { effectiveLimits, ORGANIZATION_LIMITS, type OrganizationLimits } from "../../protocol/organization.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import type { Caller, CallerKind } from "./access.ts";
import { Refusal } from "./refusal.ts";

/** Milliseconds for which an isolate remembers the operator's settings. */
const KNOWN_MS = MINUTE_MS;

const limitsByOrganization = new Map<string, { limits: OrganizationLimits; until: number }>();

/**
 * Returns an organization's limits, up to a minute old, for requests that otherwise do not query the database. While
 * the database is unavailable, returns the last known limits or the defaults, so that builds continue.
 */
const rememberedLimits = async (db: DatabaseSession, orgId: string): Promise<OrganizationLimits> => {
  const before = limitsByOrganization.get(orgId);
  if (before && before.until > Date.now()) return before.limits;
  const query = db.sql.select({ limits: organization.limits }).from(organization).where(eq(organization.id, orgId));
  try {
    const [[row]] = await db.run(query);
    const limits = effectiveLimits(row?.limits);
    limitsByOrganization.set(orgId, { limits, until: Date.now() + KNOWN_MS });
    return limits;
  } catch {
    return before?.limits ?? effectiveLimits(null);
  }
};

/** The limit that the binding applies to each key. `wrangler.toml` has the same number. */
const UNIT = ORGANIZATION_LIMITS.requestsPerMinute;

/**
 * The number of keys that count an organization's requests of each kind. Each kind has its own limit, so that a script
 * in a loop stops neither builds nor pushes. Agents have two keys, because they query the database least.
 */
const KEYS = { tokens: 1, hooks: 1, agents: 2 } as const;
type RequestKind = keyof typeof KEYS;

/** Returns an organization's limit for this kind in requests per minute, unless the operator has raised it. */
const organizationRate = (kind: RequestKind): number => KEYS[kind] * UNIT;

const randomBetween = (from: number, to: number): number => from + Math.floor(Math.random() * (to - from));

/**
 * Counts an organization's request, after the count for its token or hook. One token that sends too many requests
 * therefore does not use up the limit that all tokens share. A raised limit adds keys: once the first keys are full, a
 * request picks one of the others at random.
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
    `All ${kind} of this organization together may send ${most}. Ask the service's operator to raise the limit.`,
    { retryAfterSeconds: WINDOW_SECONDS },
  );
};

const WINDOW_SECONDS = 60;
/**
 * Returns a key that never equals a token's hash. A request without a token counts by its network address, and a
 * browser's request by its session.
 */
const addressKey = (address: string): string => `address ${address}`;
const sessionKey = (id: string): string => `session ${id}`;

const perMinute = (config: Config, kind: CallerKind): number =>
  kind === "agent" ? config.AGENT_REQUESTS_PER_MINUTE : config.TOKEN_REQUESTS_PER_MINUTE;

const requestKind = (kind: CallerKind): RequestKind => (kind === "agent" ? "agents" : "tokens");

/** Returns the header `RateLimit-Policy` for callers of this kind. */
export const ratePolicy = (config: Config, kind: CallerKind): string =>
  [
    `"token";q=${perMinute(config, kind)};w=${WINDOW_SECONDS}`,
    ...(kind === "operator" ? [] : [`"organization";q=${organizationRate(requestKind(kind))};w=${WINDOW_SECONDS}`]),
  ].join(", ");

/**
 * Counts a request with Cloudflare's rate limiting binding, which counts each location separately. The key is the
 * caller's token or the browser's session. People who share a token therefore do not stop each other's pages.
 * @throws Refusal rate-limited
 */
export const checkRate = async (env: Env, config: Config, caller: Caller): Promise<void> => {
  const { kind, tokenHash, sessionId, orgId } = caller;
  const key = sessionId === undefined ? tokenHash : sessionKey(sessionId);
  const { success } = await (kind === "agent" ? env.AGENT_RATE : env.TOKEN_RATE).limit({ key });
  if (success) return checkOrganizationRate(env, orgId, requestKind(kind));
  const sender = sessionId === undefined ? "This token" : "This browser";
  const detail = `${sender} may send ${perMinute(config, kind)} requests a minute.`;
  throw new Refusal("rate-limited", detail, { retryAfterSeconds: WINDOW_SECONDS });
};

/** Counts a request without a token by the caller's network address. @throws Refusal rate-limited */
export const checkAddressRate = async (env: Pick<Env, "TOKEN_RATE">, address: string): Promise<void> => {
  const { success } = await env.TOKEN_RATE.limit({ key: addressKey(address) });
  if (success) return;
  throw new Refusal("rate-limited", "This address sends too many requests.", { retryAfterSeconds: WINDOW_SECONDS });
};

/** Counts a delivery by its hook's address, whoever sent it. @throws Refusal rate-limited */
export const checkHookRate = async (env: Pick<Env, "HOOK_RATE">, token: string): Promise<void> => {
  const { success } = await env.HOOK_RATE.limit({ key: token });
  if (success) return;
  const detail = `This hook may send ${LIMITS.deliveriesPerMinute} deliveries a minute.`;
  throw new Refusal("rate-limited", detail, { retryAfterSeconds: WINDOW_SECONDS });
};
