import * as z from "zod/mini";

const Whole = z.coerce.number().check(z.int(), z.positive());

const Names = z.pipe(
  z.string(),
  z.transform((text) => text.split(/[\s,]+/).filter((name) => name !== "")),
);

const Config = z.object({
  CLONE_PROTOCOLS: Names,
  DASHBOARD_ORIGINS: Names,
  START_SECONDS: Whole,
  LEASE_SECONDS: Whole,
  HEARTBEAT_SECONDS: Whole,
  POLL_SECONDS: Whole.check(z.maximum(60)),
  BUILD_DAYS: Whole,
  AUDIT_DAYS: Whole,
  TOKEN_REQUESTS_PER_MINUTE: Whole,
  AGENT_REQUESTS_PER_MINUTE: Whole,
});
export type Config = z.infer<typeof Config>;

const parsed = new WeakMap<object, Config>();

/** The deployment's variables, parsed once. @throws $ZodError naming the variable that is wrong. */
export const readConfig = (env: Env): Config => {
  const known = parsed.get(env);
  if (known) return known;
  const config = Config.parse(env);
  parsed.set(env, config);
  return config;
};

/** How long a lease may stand unstarted, and how long without a heartbeat, in milliseconds. */
export const poolTimes = (env: Env): { startMs: number; leaseMs: number } => {
  const config = readConfig(env);
  return { startMs: config.START_SECONDS * 1000, leaseMs: config.LEASE_SECONDS * 1000 };
};
