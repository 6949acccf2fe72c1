import { calling, poolName } from "../../../src/domain/durable-objects.ts";
import type { NewBuild } from "../../../src/queue/commands/commands.ts";
import worker, { GitHost as Host, BuildLog as Log, AgentPool as Pool } from "../../../src/worker.ts";
import {
  add,
  addRows,
  countedArchive,
  countedDatabase,
  countedObjects,
  countLines,
  counts,
  outage,
} from "./counted-bindings.ts";
import { type Alarm, alarmOf, clearAlarm, passTime, setAlarm, toRealTime } from "./counted-clock.ts";

/**
 * The deployed Worker with a counter for everything that Cloudflare bills. `/counts` returns the counters. `/clock`
 * moves its clock forward and fires the alarms that are due until then. `/upkeep` runs the cron trigger. `/database`
 * makes D1 unavailable, `/stored` returns an object's stored data, and `/enqueue` calls the pool directly.
 */

countLines();

const known = new WeakMap<object, Env>();

const counted = (env: Env): Env => {
  const seen = known.get(env) ?? {
    ...env,
    DB: countedDatabase(env.DB),
    AGENT_POOL: countedObjects(env.AGENT_POOL, "pool"),
    BUILD_LOG: countedObjects(env.BUILD_LOG, "log"),
    GIT_HOST: countedObjects(env.GIT_HOST, "host"),
    ARCHIVE: countedArchive(env.ARCHIVE),
  };
  known.set(env, seen);
  return seen;
};

type AlarmOwner = Pick<Alarm, "binding" | "name">;

const KINDS = { AGENT_POOL: "pool", BUILD_LOG: "log", GIT_HOST: "host" };

const kindOf = ({ binding }: AlarmOwner): string => KINDS[binding];

/**
 * Counts each set alarm and each value stored under a key as a row. Counts a statement's rows after the code has read
 * its cursor, in the same turn.
 */
const countStorage = ({ storage }: DurableObjectState, owner: AlarmOwner): void => {
  const { sql } = storage;
  const kind = `${kindOf(owner)} `;
  const written = (name: string) => addRows(counts.objectRowsWritten, `INTO ${name}`, 1, kind);
  const exec = sql.exec.bind(sql);
  const realSetAlarm = storage.setAlarm.bind(storage);
  const realDeleteAlarm = storage.deleteAlarm.bind(storage);
  const deleteAll = storage.deleteAll.bind(storage);
  const execOne = (...given: Parameters<typeof exec>) => {
    const cursor = exec(...given);
    queueMicrotask(() => {
      counts.objectRowsRead += cursor.rowsRead;
      addRows(counts.objectRowsWritten, given[0], cursor.rowsWritten, kind);
    });
    return cursor;
  };
  // If a text has several statements, a cursor counts only the last one's rows.
  sql.exec = ((text: string, ...bindings: never[]) =>
    text
      .split(/(?<=;)\s*(?=CREATE\b)/)
      .map((statement) => execOne(statement, ...bindings))
      .at(-1)!) as typeof exec;
  // The platform's property creates a new object each time.
  const { kv } = storage;
  const put = kv.put.bind(kv);
  Object.defineProperty(storage, "kv", { value: kv });
  kv.put = (key, stored) => {
    written(key.split("/")[0]!);
    return put(key, stored);
  };
  storage.setAlarm = (at: number | Date) => {
    written("alarm");
    setAlarm({ ...owner, at: Number(at) });
    return realSetAlarm(toRealTime(Number(at)));
  };
  storage.getAlarm = async () => alarmOf(owner)?.at ?? null;
  storage.deleteAlarm = () => {
    clearAlarm(owner);
    return realDeleteAlarm();
  };
  storage.deleteAll = (...given) => {
    written("deleted");
    return deleteAll(...given);
  };
};

/** @returns whether the object's alarm is due. The platform's own alarm is early or late after the clock was moved */
const takeAlarm = (owner: AlarmOwner): boolean => {
  const isDue = (alarmOf(owner)?.at ?? Number.POSITIVE_INFINITY) <= Date.now();
  if (!isDue) return false;
  clearAlarm(owner);
  add(counts.objectCalls, `${kindOf(owner)} alarm`);
  return true;
};

interface Stored {
  bytes: number;
  /** Rows by table. */
  rows: Record<string, number>;
}

/** Returns the data that the object keeps on its disk. */
const storedIn = ({ storage: { sql } }: DurableObjectState): Stored => {
  const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
  const own = tables.map(({ name }) => name).filter((name) => !/^(?:_cf|sqlite)_/.test(name));
  const count = (name: string) => sql.exec<{ rows: number }>(`SELECT count(*) AS rows FROM "${name}"`).one().rows;
  return { bytes: sql.databaseSize, rows: Object.fromEntries(own.map((name) => [name, count(name)])) };
};

export class AgentPool extends Pool {
  readonly #owner: AlarmOwner;

  constructor(ctx: DurableObjectState, env: Env) {
    const owner: AlarmOwner = { binding: "AGENT_POOL", name: ctx.id.name ?? "" };
    countStorage(ctx, owner);
    counts.wakes += 1;
    super(ctx, counted(env));
    this.#owner = owner;
  }

  override async alarm(): Promise<void> {
    if (takeAlarm(this.#owner)) await super.alarm();
  }

  override webSocketMessage(...given: Parameters<Pool["webSocketMessage"]>) {
    counts.socketMessages += 1;
    return super.webSocketMessage(...given);
  }

  /** The clock calls this: the platform lets nobody else call an alarm. */
  async fireAlarm(): Promise<void> {
    await this.alarm();
  }

  async stored(): Promise<Stored> {
    return storedIn(this.ctx);
  }
}

export class BuildLog extends Log {
  readonly #owner: AlarmOwner;

  constructor(ctx: DurableObjectState, env: Env) {
    const owner: AlarmOwner = { binding: "BUILD_LOG", name: ctx.id.name ?? "" };
    countStorage(ctx, owner);
    super(ctx, counted(env));
    this.#owner = owner;
  }

  override async alarm(): Promise<void> {
    if (takeAlarm(this.#owner)) await (Log.prototype as { alarm?: () => Promise<void> }).alarm?.call(this);
  }

  override webSocketMessage(...given: Parameters<Log["webSocketMessage"]>) {
    counts.socketMessages += 1;
    return super.webSocketMessage(...given);
  }

  /** The clock calls this: the platform lets nobody else call an alarm. */
  async fireAlarm(): Promise<void> {
    await this.alarm();
  }

  async stored(): Promise<Stored> {
    return storedIn(this.ctx);
  }
}

export class GitHost extends Host {
  readonly #owner: AlarmOwner;

  constructor(ctx: DurableObjectState, env: Env) {
    const owner: AlarmOwner = { binding: "GIT_HOST", name: ctx.id.name ?? "" };
    countStorage(ctx, owner);
    super(ctx, counted(env));
    this.#owner = owner;
  }

  override async alarm(): Promise<void> {
    if (takeAlarm(this.#owner)) await super.alarm();
  }

  /** The clock calls this: the platform lets nobody else call an alarm. */
  async fireAlarm(): Promise<void> {
    await this.alarm();
  }

  async stored(): Promise<Stored> {
    return storedIn(this.ctx);
  }
}

interface CountedObject {
  fireAlarm(): Promise<void>;
  stored(): Promise<Stored>;
}

const objectOf = (env: Env, { binding, name }: AlarmOwner) =>
  calling(env[binding].getByName(name) as unknown as CountedObject);

const counting = {
  ...worker,
  async scheduled(controller: ScheduledController, env: Env): Promise<void> {
    await worker.scheduled(controller, counted(env));
  },
  async fetch(request: Parameters<typeof worker.fetch>[0], env: Env, ctx: ExecutionContext) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/enqueue") {
      const build = await request.json<NewBuild>();
      return Response.json(await calling(env.AGENT_POOL.getByName(poolName(build.orgId))).enqueue(build));
    }
    if (pathname === "/stored") {
      const owner = { binding: searchParams.get("binding"), name: searchParams.get("name") } as AlarmOwner;
      return Response.json(await objectOf(env, owner).stored());
    }
    if (pathname === "/database") {
      outage.isAway = searchParams.get("away") === "true";
      return Response.json(outage);
    }
    if (pathname === "/now") return Response.json(Date.now());
    if (pathname === "/upkeep") await counting.scheduled({ scheduledTime: Date.now() } as ScheduledController, env);
    if (pathname === "/clock") {
      await passTime(Number(searchParams.get("ahead")), (alarm) => objectOf(env, alarm).fireAlarm());
    }
    if (["/counts", "/clock", "/upkeep"].includes(pathname)) return Response.json(counts);
    counts.requests += 1;
    return worker.fetch(request, counted(env), ctx);
  },
} satisfies ExportedHandler<Env>;

export default counting;
