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
  AGENT_DAYS: z._default(Whole, 90),
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

/** How long a lease may stand unstarted, how long without a heartbeat, and how long an agent is kept unheard, in milliseconds. */
export const poolTimes = (env: Env): { startMs: number; leaseMs: number; agentMs: number } => {
  const { START_SECONDS, LEASE_SECONDS, AGENT_DAYS } = readConfig(env);
  return { startMs: START_SECONDS * 1000, leaseMs: LEASE_SECONDS * 1000, agentMs: AGENT_DAYS * 86_400_000 };
};
