import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { loadKeyring } from "../../../src/crypto/keyring.ts";
import { DatabaseSession } from "../../../src/db/session.ts";
import { poolName } from "../../../src/domain/durable-objects.ts";
import { nextRun, nextRuns } from "../../../src/domain/schedule.ts";
import { inputsContext } from "../../../src/domain/seal-context.ts";
import { Failures } from "../../../src/services/upkeep/run.ts";
import { runSchedules } from "../../../src/services/upkeep/schedules.ts";
import { call, create } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup } from "../../support/build-setup.ts";
import { databaseWithHook, poolStub } from "../../support/deployment.ts";
import { fakeObjects } from "../../support/objects-by-name.ts";
import { fails, to } from "../../support/platform/effects.ts";
import { newPlatform } from "../../support/platform/platform.ts";
import { OBJECT } from "../../support/platform/texts.ts";
import { failures, upkeep } from "./support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;
/** A full hour, far in the past. The ids of scheduled builds contain their times. */
const BEGIN = Date.UTC(2025, 2, 1);
const iso = (at: number): string => new Date(at).toISOString();

/** Where a run stops, as if the Worker ended: nothing happens after that point. */
type Crash = "never" | "question" | "before the pool" | "after the pool" | "update" | "after the update";
const CRASHES: Crash[] = ["never", "question", "before the pool", "after the pool", "update", "after the update"];

const crashing = (crash: Crash): Env => {
  const lost = () => Promise.reject(new Error("The Worker stopped."));
  let batches = 0;
  const db = databaseWithHook(async () => {
    batches += 1;
    if (crash === "question" || (crash === "update" && batches > 1)) await lost();
  });
  const AGENT_POOL = fakeObjects<Env["AGENT_POOL"]>((name) => {
    const real = env.AGENT_POOL.getByName(name) as unknown as { enqueueAll(builds: unknown[]): Promise<unknown> };
    const enqueueAll = async (builds: unknown[]) => {
      if (crash === "before the pool") return lost();
      const answer = await real.enqueueAll(builds);
      return crash === "after the pool" ? lost() : answer;
    };
    return { enqueueAll };
  });
  return { ...env, DB: db, AGENT_POOL };
};

/** Facts that the trigger ignores. */
const TURN = { buildsBefore: 0, auditBefore: 0, turn: { place: "", goesOn: false } };

/** Runs only the trigger, and discards its failures. */
const runAt = async (now: number, crash: Crash = "never"): Promise<number> => {
  const stopped = crashing(crash);
  const db = new DatabaseSession(stopped.DB, "first-primary");
  const run = { env: stopped, db, ...TURN, now, failures: new Failures(db, now) };
  try {
    await runSchedules(run);
    if (crash === "after the update") throw new Error("The Worker stopped.");
  } catch (error) {
    expect(crash).not.toBe("never");
    expect(String(error)).toContain("stopped");
  }
  return db.tally.rowsRead;
};

/** Sets the schedule's next time. */
const since = (id: string, next: number) =>
  env.DB.prepare("UPDATE schedule SET next_at = ? WHERE id = ?").bind(iso(next), id).run();

interface Stored {
  next_at: string;
  last_at: string | null;
  last_build_id: string | null;
}

const rowOf = async (id: string): Promise<Stored> =>
  (await env.DB.prepare("SELECT * FROM schedule WHERE id = ?").bind(id).first<Stored>())!;

/** Returns the times for which the pool has builds of the schedule, read from their ids. */
const builtTimes = async (orgId: string, scheduleId: string): Promise<number[]> =>
  (await poolStub(orgId).liveBuilds())
    .filter(({ createdBy }) => createdBy?.id === scheduleId)
    .map(({ id }) => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16))
    .sort((a, b) => a - b);

let setup: BuildSetup;
beforeAll(async () => {
  setup = await newBuildSetup();
});
beforeEach(async () => {
  await env.DB.prepare("DELETE FROM schedule").run();
});

const newSchedule = async (more: object = {}, { pipeline, admin } = setup): Promise<string> => {
  const body = { pipelineId: pipeline.id, name: "nightly", cron: "0 3 * * *", ...more };
  return (await create(admin, "/schedule", body)).id;
};

it("upkeep triggers due builds with the schedule's branch, values and name", async () => {
  const id = await newSchedule({ ref: "release", envVariables: { KIND: "nightly" } });
  await since(id, BEGIN);
  expect(await upkeep({}, BEGIN + 10_000)).toMatchObject({ scheduled: 1, failed: 0 });
  const build = (await poolStub(setup.orgId).liveBuilds()).find(({ createdBy }) => createdBy?.id === id);
  expect(build).toMatchObject({ event: "schedule", schedule: "nightly", trigger: "api", branch: "release" });
  expect(build?.createdBy).toEqual({ kind: "schedule", id, name: "nightly" });
  const kept = await poolStub(setup.orgId).inputsOf(build?.id ?? "");
  const sealed = kept.ok ? (kept.value.inputs ?? "") : "";
  const opened = await loadKeyring(env.SECRETS_KEYS).openText(sealed, inputsContext(setup.orgId, build?.id ?? ""));
  expect(JSON.parse(opened)).toEqual({ KIND: "nightly" });
  expect(await rowOf(id)).toMatchObject({
    next_at: iso(BEGIN + 3 * HOUR),
    last_at: iso(BEGIN),
    last_build_id: build?.id,
  });
  const { body } = await call(setup.admin, "GET", `/schedule/${id}`);
  expect(body).toMatchObject({ lastBuildId: build?.id, lastStatus: null, problem: null });
});

it("upkeep reads at most one row where nothing is due, however many schedules there are", async () => {
  for (let count = 0; count < 5; count++) await newSchedule({ name: `n${count}` });
  expect(await runAt(Date.now())).toBeLessThanOrEqual(1);
});

it.each(CRASHES.flatMap((first) => ["never" as const, first].map((second) => [first, second] as const)))(
  "upkeep triggers each due build once when a run stops at %s and the next at %s",
  async (first, second) => {
    const id = await newSchedule();
    await since(id, BEGIN);
    await runAt(BEGIN, first);
    await runAt(BEGIN + MINUTE, second);
    await runAt(BEGIN + 2 * MINUTE);
    expect(await builtTimes(setup.orgId, id)).toEqual([BEGIN]);
    expect(await rowOf(id)).toMatchObject({ next_at: iso(BEGIN + 3 * HOUR), last_at: iso(BEGIN) });
  },
);

it("upkeep recognizes a time's build days later, when the pool has forgotten its key", async () => {
  const id = await newSchedule({ cron: "0 0 1 * *" });
  await since(id, BEGIN);
  await runAt(BEGIN, "after the pool");
  await runInDurableObject(poolStub(setup.orgId), (_, { storage }) => {
    expect(storage.sql.exec("DELETE FROM idempotency").rowsWritten).toBeGreaterThan(0);
  });
  await runAt(BEGIN + 9 * 24 * HOUR);
  expect(await builtTimes(setup.orgId, id)).toEqual([BEGIN]);
});

it("upkeep continues from now after a restore of the database, and triggers no build twice", async () => {
  const id = await newSchedule({ cron: "0 * * * *" });
  await since(id, BEGIN);
  for (let hour = 0; hour < 4; hour++) await runAt(BEGIN + hour * HOUR);
  await since(id, BEGIN);
  await runAt(BEGIN + 3 * HOUR + 5 * MINUTE);
  expect(await builtTimes(setup.orgId, id)).toEqual([0, 1, 2, 3].map((hour) => BEGIN + hour * HOUR));
  expect(await rowOf(id)).toMatchObject({ next_at: iso(BEGIN + 4 * HOUR) });
});

it("upkeep skips a time while the pipeline or the repository is inactive", async () => {
  const id = await newSchedule();
  for (const path of [`/pipeline/${setup.pipeline.id}`, `/repository/${setup.repository.id}`]) {
    await call(setup.admin, "PUT", path, { isActive: false });
    await since(id, BEGIN);
    await runAt(BEGIN + MINUTE);
    expect(await builtTimes(setup.orgId, id)).toEqual([]);
    expect(await rowOf(id)).toMatchObject({ next_at: iso(BEGIN + 3 * HOUR), last_at: null });
    await call(setup.admin, "PUT", path, { isActive: true });
  }
});

it("upkeep reports an unavailable pool or a damaged value, and delays no other schedule for it", async () => {
  const [away, damaged, well] = [await newBuildSetup(), await newBuildSetup(), await newBuildSetup()];
  const ids = [
    await newSchedule({}, away),
    await newSchedule({ envVariables: { A: "1" } }, damaged),
    await newSchedule({ name: "other" }, damaged),
    await newSchedule({}, well),
  ];
  for (const id of ids) await since(id, BEGIN);
  const move = "UPDATE schedule SET env_variables = json_set(env_variables, '$.sealed', 'v1.s1.AAAA') WHERE id = ?";
  await env.DB.prepare(move).bind(ids[1]).run();
  const lost = newPlatform().trouble("AGENT_POOL", fails(OBJECT.lost), to(poolName(away.orgId)));
  expect(await upkeep({}, BEGIN + MINUTE)).toMatchObject({ scheduled: 2 });
  lost.end();
  const [first, second] = await failures();
  expect([first?.kind, second?.kind]).toEqual(["schedule", "schedule"]);
  const problems = await Promise.all(
    [away, damaged].map(({ admin }, index) => call(admin, "GET", `/schedule/${ids[index]}`)),
  );
  expect(problems[0]?.body.problem).toBe("Network connection lost.");
  expect(problems[1]?.body.problem).toBe("A sealed value is damaged: set it again.");
  await call(damaged.admin, "PUT", `/schedule/${ids[1]}`, { envVariables: { A: "2" } });
  expect(await upkeep({}, BEGIN + 3 * MINUTE)).toMatchObject({ scheduled: 2 });
  expect(await builtTimes(away.orgId, ids[0]!)).toEqual([BEGIN]);
  expect(await builtTimes(damaged.orgId, ids[1]!)).toEqual([BEGIN]);
  expect(await builtTimes(damaged.orgId, ids[2]!)).toEqual([BEGIN]);
  expect((await failures()).filter(({ kind }) => kind === "schedule")).toEqual([]);
});

it("upkeep keeps the time that a person sets on a schedule at the same moment", async () => {
  const id = await newSchedule();
  await since(id, BEGIN);
  const db = databaseWithHook(async (statements) => {
    if (statements === 1 && (await builtTimes(setup.orgId, id)).length > 0) await since(id, BEGIN + 7 * MINUTE);
  });
  const session = new DatabaseSession(db, "first-primary");
  await runSchedules({ env, db: session, ...TURN, now: BEGIN, failures: new Failures(session, BEGIN) });
  expect(await builtTimes(setup.orgId, id)).toEqual([BEGIN]);
  expect((await rowOf(id)).next_at).toBe(iso(BEGIN + 7 * MINUTE));
});

/** Runs a wrong trigger, which sets the next time first. */
const wrongRunAt = async (id: string, next: number, now: number, crash: Crash): Promise<void> => {
  if (Date.parse((await rowOf(id)).next_at) > now) return;
  if (crash === "never") await runAt(now);
  await since(id, next);
};

interface Round {
  /** Minutes since the previous run. */
  after: number;
  crash: Crash;
}

const CRONS = ["0 * * * *", "*/20 8-17 * * 1-5", "30 2 * * *", "0 5 1 * *", "15 */6 * * 0", "0 0 31 * *"];
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];

const rounds: fc.Arbitrary<Round[]> = fc.array(
  fc.record({
    after: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 90 }) }, fc.integer({ min: 1, max: 60_000 })),
    crash: fc.oneof({ weight: 2, arbitrary: fc.constant<Crash>("never") }, fc.constantFrom(...CRASHES)),
  }),
  { minLength: 5, maxLength: 25 },
);

/** Runs a schedule through up to a year of stops and crashes. @returns the violated law, or null */
const walk = async (cron: string, timeZone: string, all: Round[], isWrong: boolean): Promise<string | null> => {
  await env.DB.prepare("DELETE FROM schedule").run();
  const id = await newSchedule({ cron, timeZone });
  const schedule = { cron, timeZone };
  const due = [nextRun(schedule, BEGIN)];
  const end = BEGIN + all.reduce((sum, { after }) => sum + after, 1) * MINUTE;
  while (due.at(-1)! <= Math.min(end, BEGIN + YEAR)) due.push(...nextRuns(schedule, due.at(-1)!, 100));
  await since(id, due[0]!);
  let now = BEGIN;
  for (const { after, crash } of [...all, { after: 1, crash: "never" } as Round]) {
    now += after * MINUTE;
    if (now > BEGIN + YEAR) break;
    const next = due.find((time) => time > now)!;
    const before = await builtTimes(setup.orgId, id);
    if (isWrong) await wrongRunAt(id, next, now, crash);
    else await runAt(now, crash);
    const built = await builtTimes(setup.orgId, id);
    const latest = due.findLast((time) => time <= now);
    if (new Set(built).size < built.length) return `a time was built twice: ${built.map(iso)}`;
    if (built.length > before.length + 1) return "more than one build for what was missed";
    if (built.some((time) => !due.includes(time))) return "a build of no due time";
    if (crash === "never" && latest !== undefined && !built.includes(latest)) return `${iso(latest)} was lost`;
    const stored = (await rowOf(id)).next_at;
    if (crash === "never" && stored !== iso(next)) return `the next time is ${stored}, not ${iso(next)}`;
  }
  return null;
};

it("upkeep triggers due builds at most once in a year of stops and crashes, and one after each outage", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...CRONS),
    fc.constantFrom(...ZONES),
    rounds,
    async (cron, timeZone, all) => {
      expect(await walk(cron, timeZone, all, false)).toBeNull();
    },
  );
  await fc.assert(property, { numRuns: 6 });
});

it("the year of crashes catches a trigger that sets the next time first", async () => {
  const crashed: Round[] = [
    { after: 61, crash: "before the pool" },
    { after: 1, crash: "never" },
  ];
  expect(await walk("0 * * * *", "UTC", crashed, true)).toMatch(/was lost$/);
});
