import "./day/simulated-time.ts";
import { calling } from "../../src/domain/durable-objects.ts";
import { counts } from "../bench/support/counted-bindings.ts";
import { type Alarm, alarmsSet, setAlarm } from "../bench/support/counted-clock.ts";
import counted, { GitHost as Host, BuildLog as Log, AgentPool as Pool } from "../bench/support/counted-worker.ts";
import { beginAt, fireTimers, moveTo, nextTimer } from "./day/simulated-time.ts";
import { aside, type Fault, failed, faults, sockets, untilQuiet, watched, watchedEnv } from "./day/watched-bindings.ts";

/**
 * The counted Worker for a simulated day. `/day/begin?at=` sets the clock. `/day/clock?to=` moves it forward, and fires
 * each timer and alarm at its time. `/day/cron?at=` runs the cron trigger for that time. `/day/faults` sets the failing
 * parts and their times, `/day/reset?binding=&name=` ends an object, and `/day/state` returns the waiting work and the
 * logged events.
 */

/** Seconds until the platform retries an alarm that threw, doubled each time, and the number of tries. */
const ALARM_RETRY_MS = 2_000;
const ALARM_TRIES = 6;

/** The number of times in a row that each object's alarm threw, and the alarms that are running. */
const thrown = new Map<string, number>();
const underFire = new Set<string>();
const keyOf = ({ binding, name }: Pick<Alarm, "binding" | "name">): string => `${binding} ${name}`;

/** Each upkeep run's reported work, and the number of other logged warnings and errors. */
const upkeep: { at: number; done: Record<string, number> }[] = [];
const troubles: Record<string, number> = {};

console.log = (text: unknown) => {
  if (typeof text !== "string" || !text.includes('"event":"upkeep.ran"')) return;
  upkeep.push({ at: Date.now(), done: JSON.parse(text).done });
};
for (const level of ["warn", "error"] as const) {
  console[level] = (...given: unknown[]) => {
    const line = String(given[0]);
    const { event, error, reason = error } = line.startsWith('{"level":') ? JSON.parse(line) : { event: line };
    const text = [event, ...(reason ? [String(reason).split("\n")[0]] : [])]
      .join(" ")
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{3,}/g, "*")
      .slice(0, 160);
    troubles[text] = (troubles[text] ?? 0) + 1;
  };
}

const onSockets = (ctx: DurableObjectState): void => {
  // The pool's agents ping without a pause.
  ctx.getWebSocketAutoResponseTimestamp = () => new Date();
};

export class AgentPool extends Pool {
  constructor(ctx: DurableObjectState, env: Env) {
    onSockets(ctx);
    super(ctx, watchedEnv(env));
  }

  async reset(): Promise<void> {
    this.ctx.abort("reset");
  }

  /** Returns the number of waiting rows: audit entries, log closes, and ended builds that D1 or the archive lacks. */
  async backlog(): Promise<{ audits: number; closes: number; ended: number; deadLetters: string[] }> {
    const { sql } = this.ctx.storage;
    const count = (what: string) => sql.exec<{ rows: number }>(`SELECT count(*) AS rows FROM ${what}`).one().rows;
    const over = "ended_at IS NULL AND json_extract(facts, '$.status') NOT IN ('queued', 'assigned', 'running')";
    const dead = sql.exec<{ reason: string }>("SELECT reason FROM parked").toArray();
    return {
      audits: count("audit_outbox"),
      closes: count("log_outbox"),
      ended: count(`build WHERE ${over}`),
      deadLetters: dead.map(({ reason }) => reason),
    };
  }
}

export class BuildLog extends Log {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, watchedEnv(env));
  }

  async reset(): Promise<void> {
    this.ctx.abort("reset");
  }
}

export class GitHost extends Host {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, watchedEnv(env));
  }

  async reset(): Promise<void> {
    this.ctx.abort("reset");
  }

  async backlog(): Promise<{ kept: number }> {
    const { sql } = this.ctx.storage;
    const has = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'kept'").toArray().length > 0;
    return { kept: has ? sql.exec<{ rows: number }>("SELECT count(*) AS rows FROM kept").one().rows : 0 };
  }
}

interface DayObject {
  fireAlarm(): Promise<void>;
  reset(): Promise<void>;
}

const objectOf = (env: Env, { binding, name }: Pick<Alarm, "binding" | "name">) =>
  calling(env[binding].getByName(name) as unknown as DayObject);

/** Fires an alarm as the platform does: one at a time for each object, and again if it threw. */
const fire = async (env: Env, alarm: Alarm): Promise<void> => {
  const key = keyOf(alarm);
  underFire.add(key);
  try {
    await watched(false, () => objectOf(env, alarm).fireAlarm());
    thrown.delete(key);
  } catch {
    const times = (thrown.get(key) ?? 0) + 1;
    thrown.set(key, times);
    if (times < ALARM_TRIES) setAlarm({ ...alarm, at: Date.now() + ALARM_RETRY_MS * 2 ** (times - 1) });
  } finally {
    underFire.delete(key);
  }
};

const nextAlarm = (): Alarm | undefined => {
  let next: Alarm | undefined;
  for (const alarm of alarmsSet()) {
    if (!underFire.has(keyOf(alarm)) && (next === undefined || alarm.at < next.at)) next = alarm;
  }
  return next;
};

/** Moves the clock forward to the time, or until the service sends an agent something. */
const advance = async (env: Env, ctx: ExecutionContext, until: number): Promise<void> => {
  await untilQuiet();
  const sent = sockets.sent;
  for (;;) {
    const at = Math.min(nextTimer(), nextAlarm()?.at ?? Number.POSITIVE_INFINITY);
    if (at > until) break;
    moveTo(at);
    fireTimers();
    for (let alarm = nextAlarm(); alarm && alarm.at <= Date.now(); alarm = nextAlarm()) {
      ctx.waitUntil(fire(env, alarm));
    }
    await untilQuiet();
    if (sockets.sent !== sent) return;
  }
  moveTo(until);
};

/** Returns the waiting work in each named object. */
const backlogOf = async (env: Env, pools: string[], hosts: string[]) => ({
  pools: await Promise.all(
    pools.map(async (name) => {
      const pool = calling((env.AGENT_POOL as unknown as DurableObjectNamespace<AgentPool>).getByName(name));
      return { name, ...(await pool.backlog()), metrics: await pool.metrics() };
    }),
  ),
  hosts: await Promise.all(
    hosts.map(async (name) => {
      const host = calling((env.GIT_HOST as unknown as DurableObjectNamespace<GitHost>).getByName(name));
      return { name, ...(await host.backlog()), health: await host.health() };
    }),
  ),
});

const DAY: Record<string, (env: Env, ctx: ExecutionContext, url: URL, request: Request) => Promise<unknown>> = {
  async "/day/begin"(_env, _ctx, { searchParams }) {
    beginAt(Number(searchParams.get("at")));
  },
  async "/day/clock"(env, ctx, { searchParams }) {
    await advance(env, ctx, Number(searchParams.get("to")));
    return { now: Date.now() };
  },
  async "/day/cron"(env, _ctx, { searchParams }) {
    const controller = { scheduledTime: Number(searchParams.get("at")), cron: "* * * * *" } as ScheduledController;
    const own = watchedEnv(env);
    const ok = await watched(false, () => counted.scheduled(controller, own)).then(
      () => true,
      () => false,
    );
    const { results } = await aside(env)
      .prepare("SELECT subject FROM upkeep_failure WHERE kind = 'chore' AND next_at > ?")
      .bind(Date.now())
      .all<{ subject: string }>();
    return { ok, aside: results.map(({ subject }) => subject) };
  },
  async "/day/faults"(_env, _ctx, _url, request) {
    faults.splice(0, faults.length, ...(await request.json<Fault[]>()));
  },
  async "/day/reset"(env, _ctx, { searchParams }) {
    const owner = { binding: searchParams.get("binding"), name: searchParams.get("name") } as Alarm;
    await objectOf(env, owner)
      .reset()
      .catch(() => {});
  },
  async "/day/records"(env) {
    const keys: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await watchedEnv(env).ARCHIVE.list({ prefix: "record/", cursor });
      keys.push(...page.objects.map(({ key }) => key));
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor);
    return keys;
  },
  async "/day/state"(env, _ctx, { searchParams }) {
    const names = (of: string) => searchParams.getAll(of);
    const logs = [...alarmsSet()].filter(({ binding }) => binding === "BUILD_LOG");
    return {
      ...(await backlogOf(env, names("pool"), names("host"))),
      logs: logs.length,
      ...{ counts, failed, upkeep, troubles },
    };
  },
};

export default {
  ...counted,
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    const own = DAY[url.pathname];
    if (!own) return watched(false, () => counted.fetch(request, watchedEnv(env), ctx));
    return Response.json((await own(env, ctx, url, request)) ?? null);
  },
} satisfies ExportedHandler<Env>;
