import type { Config } from "../../config.ts";
import type { CallerKind } from "./access.ts";
import { Refusal } from "./refusal.ts";

const WINDOW_SECONDS = 60;

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
