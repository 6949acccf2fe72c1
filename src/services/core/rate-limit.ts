import type { Config } from "../../config.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { CallerKind } from "./access.ts";
import { Refusal } from "./refusal.ts";

const WINDOW_SECONDS = 60;
/** Requests without a token are counted by network address, under a key that is no token's hash. */
const addressKey = (address: string): string => `address ${address}`;

const perMinute = (config: Config, kind: CallerKind): number =>
  kind === "agent" ? config.AGENT_REQUESTS_PER_MINUTE : config.TOKEN_REQUESTS_PER_MINUTE;

/** The value of the header `RateLimit-Policy` for callers of this kind. */
export const ratePolicy = (config: Config, kind: CallerKind): string =>
  `"token";q=${perMinute(config, kind)};w=${WINDOW_SECONDS}`;

/**
 * Counts a request of a token with Cloudflare's rate limiting binding, which counts for each location by itself.
 * @throws Refusal rate-limited
 */
export const checkRate = async (env: Env, config: Config, kind: CallerKind, tokenHash: string): Promise<void> => {
  const { success } = await (kind === "agent" ? env.AGENT_RATE : env.TOKEN_RATE).limit({ key: tokenHash });
  if (success) return;
  const detail = `This token may send ${perMinute(config, kind)} requests a minute.`;
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
