import * as z from "zod/mini";
import { oncePer } from "./once-per.ts";
import { LIMITS, PERIODS } from "./protocol/limits.ts";
import { DAY_MS, SECOND_MS } from "./protocol/units.ts";

const Whole = z.coerce.number().check(z.int(), z.positive());

const Names = z.pipe(
  z.string(),
  z.transform((text) => text.split(/[\s,]+/).filter((name) => name !== "")),
);

/** Scheme and host of a site, without a path. May be empty. */
const Origin = z
  .pipe(
    z.string(),
    z.transform((text) => text.trim().replace(/\/$/, "")),
  )
  .check(z.refine((text) => text === "" || isOrigin(text), "must be an origin, as https://artifacts.example"));

const isOrigin = (text: string): boolean => URL.parse(text)?.origin === text && /^https?:/.test(text);

const Settings = z.object({
  ARTIFACT_ORIGIN: z._default(Origin, ""),
  CLONE_PROTOCOLS: Names,
  DASHBOARD_ORIGINS: Names,
  START_SECONDS: Whole,
  LEASE_SECONDS: Whole,
  HEARTBEAT_SECONDS: Whole,
  POLL_SECONDS: Whole.check(z.maximum(LIMITS.pollSeconds)),
  BUILD_DAYS: Whole,
  AUDIT_DAYS: Whole,
  AGENT_DAYS: z._default(Whole, 90),
  TOKEN_REQUESTS_PER_MINUTE: Whole,
  AGENT_REQUESTS_PER_MINUTE: Whole,
});
export type Config = z.infer<typeof Settings>;

/** Lists settings that are valid alone and contradict each other or a fixed period. Each sentence says what to set. */
const contradictions = (config: Config): string[] => {
  const { LEASE_SECONDS: lease, HEARTBEAT_SECONDS: heartbeat, ARTIFACT_ORIGIN: origin } = config;
  const found: string[] = [];
  if (origin !== "" && config.DASHBOARD_ORIGINS.includes(origin)) {
    found.push(
      "ARTIFACT_ORIGIN is one of DASHBOARD_ORIGINS: pages of builds must not call the API. Give it a host of its own.",
    );
  }
  if (lease <= 2 * heartbeat) {
    found.push(
      `LEASE_SECONDS (${lease}) must be more than twice HEARTBEAT_SECONDS (${heartbeat}), else one lost heartbeat ` +
        `takes a build from its agent: set LEASE_SECONDS to ${3 * heartbeat} or more.`,
    );
  }
  if (heartbeat >= PERIODS.onlineSeconds) {
    found.push(
      `HEARTBEAT_SECONDS (${heartbeat}) must be less than ${PERIODS.onlineSeconds}, the seconds after which an agent counts ` +
        "as offline: set it to 30 or less.",
    );
  }
  return found;
};

const Config = Settings.check(({ value, issues }) => {
  for (const message of contradictions(value)) issues.push({ code: "custom", input: value, path: [], message });
});

const once = oncePer<Config>();

/** Returns the deployment's settings, parsed once. @throws $ZodError if `settingProblems` finds a problem */
export const readConfig = (env: Env): Config => once(env, () => Config.parse(env));

/** Lists problems that prevent the service from starting with these settings. Quotes only numbers. */
export const settingProblems = (settings: object): string[] =>
  Config.safeParse(settings).error?.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")} is missing or wrong.`,
  ) ?? [];

/** The periods of a pool in milliseconds. */
interface PoolTimes {
  /** How long a lease lives until its build is started, and then between heartbeats. */
  startMs: number;
  leaseMs: number;
  /** How long the pool keeps an agent that does not call, and a run's values, which a retry needs. */
  agentMs: number;
  runValuesMs: number;
}

export const poolTimes = (env: Env): PoolTimes => {
  const { START_SECONDS, LEASE_SECONDS, AGENT_DAYS, BUILD_DAYS } = readConfig(env);
  return {
    startMs: START_SECONDS * SECOND_MS,
    leaseMs: LEASE_SECONDS * SECOND_MS,
    agentMs: AGENT_DAYS * DAY_MS,
    runValuesMs: BUILD_DAYS * DAY_MS,
  };
};
