import type { Config } from "../../config.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Caller, CallerKind } from "./access.ts";
import { checkOrganizationRate, organizationRate, type RequestKind } from "./organization-rate.ts";
import { Refusal } from "./refusal.ts";

const WINDOW_SECONDS = 60;
/** Under keys that are no token's hash: requests without a token by network address, those of a browser by its session. */
const addressKey = (address: string): string => `address ${address}`;
const sessionKey = (id: string): string => `session ${id}`;

const perMinute = (config: Config, kind: CallerKind): number =>
  kind === "agent" ? config.AGENT_REQUESTS_PER_MINUTE : config.TOKEN_REQUESTS_PER_MINUTE;

const requestKind = (kind: CallerKind): RequestKind => (kind === "agent" ? "agents" : "tokens");

/** The value of the header `RateLimit-Policy` for callers of this kind. */
export const ratePolicy = (config: Config, kind: CallerKind): string =>
  [
    `"token";q=${perMinute(config, kind)};w=${WINDOW_SECONDS}`,
    ...(kind === "operator" ? [] : [`"organization";q=${organizationRate(requestKind(kind))};w=${WINDOW_SECONDS}`]),
  ].join(", ");

/**
 * Counts a request with Cloudflare's rate limiting binding, which counts for each location by itself: by the caller's
 * token, or by the browser's session, so that people who share a token do not stop each other's pages.
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

/** Counts a delivery by the address of its hook, whoever sends it. @throws Refusal rate-limited */
export const checkHookRate = async (env: Pick<Env, "HOOK_RATE">, token: string): Promise<void> => {
  const { success } = await env.HOOK_RATE.limit({ key: token });
  if (success) return;
  const detail = `This hook may send ${LIMITS.deliveriesPerMinute} deliveries a minute.`;
  throw new Refusal("rate-limited", detail, { retryAfterSeconds: WINDOW_SECONDS });
};
