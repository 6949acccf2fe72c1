import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { newBuild, type Pool, poolOf, registered, value } from "./support.ts";

const AGENTS = 50;
const HOUR = 3_600_000;

const setClock = (now: number) => vi.useFakeTimers({ toFake: ["Date"], now });
const pass = (seconds: number) => setClock(Date.now() + seconds * 1000);

// In the far future, so that no real alarm fires.
beforeEach(() => void setClock(Date.UTC(2100, 0)));
afterEach(() => {
  vi.useRealTimers();
});

/** Creates waiting builds, and as many agents whose Workers hand builds out. `calls` counts the Workers' calls. */
const crowd = async (orgId: string) => {
  const pool = poolOf(orgId);
  const counted = { calls: 0, handOuts: 0 };
  const hinted: Speaker[] = [];
  let told = () => {};
  const listen = async (speaker: Speaker) => {
    const headers = { Upgrade: "websocket", "X-Agent-Id": speaker.agentId, "X-Token-Hash": speaker.tokenHash };
    const { webSocket } = await pool.fetch("https://pool/wait", { headers });
    webSocket!.accept();
    webSocket!.addEventListener("message", () => {
      hinted.push(speaker);
      told();
    });
  };
  const agents: Speaker[] = [];
  for (let made = 0; made < AGENTS; made++) agents.push(await registered(pool, orgId));
  for (const agent of agents) await listen(agent);
  const nextHinted = async (): Promise<Speaker> => {
    while (hinted.length === 0) {
      await new Promise<void>((resolve) => {
        told = resolve;
      });
    }
    return hinted.shift()!;
  };
  const claim = async (agent: Speaker) => {
    counted.calls += 1;
    const grant = value(await pool.claim({ ...agent, bootId: "b1" }));
    if (grant) counted.handOuts += 1;
    return grant && { ...agent, ...grant };
  };
  const takeBack = async ({ jobId, fence }: Holder, away: object) => {
    counted.calls += 1;
    value(await pool.unclaim({ jobId, fence, notBefore: Date.now() + 5_000, isLogOpen: false, ...away }));
  };
  const enqueue = () => pool.enqueueAll(agents.map(() => newBuild(orgId, { inputs: null, secretKeys: [] })));
  return { pool, agents, counted, hinted, nextHinted, claim, takeBack, enqueue };
};

type Speaker = Awaited<ReturnType<typeof registered>>;
type Holder = Speaker & { jobId: string; fence: number };

const rowsOf = (pool: Pool): Promise<number> =>
  runInDurableObject(pool, (_object, { storage: { sql } }) =>
    Number(sql.exec("SELECT total_changes() AS count").one().count),
  );

it("the pool tries one assignment a minute for an hour without D1, then starts all builds in a minute", async () => {
  const { pool, agents, counted, hinted, nextHinted, claim, takeBack, enqueue } = await crowd("hour");
  const builds = (await enqueue()).map((made) => value(made).buildId);
  let writtenBefore = 0;
  const rows = { now: await rowsOf(pool) };
  const granted: Holder[] = [];
  for (const _ of agents) granted.push((await claim(await nextHinted()))!);
  for (const holder of granted) await takeBack(holder, { isAway: true });
  const began = Date.now();
  const secondsLeft = async () => {
    const { code, message } = value(await pool.explain(builds.at(-1)!));
    return code === "dependency-away" ? Number(/within (\d+) s/.exec(message)?.[1]) : 0;
  };
  const pauses: number[] = [];
  while (Date.now() < began + HOUR) {
    pauses.push(await secondsLeft());
    pass(pauses.at(-1)!);
    if (pauses.length === 30) {
      writtenBefore = (await rowsOf(pool)) - rows.now;
      await evictDurableObject(pool, { webSockets: "hibernate" });
      rows.now = await rowsOf(pool);
    }
    await pool.sweep();
    const agent = await nextHinted();
    await takeBack((await claim(agent))!, { isAway: true });
    // After its rejected poll, the agent polls again, and then waits on its socket.
    expect(await claim(agent)).toBeNull();
  }
  const written = writtenBefore + (await rowsOf(pool)) - rows.now;
  expect(pauses.slice(0, 7)).toEqual([1, 2, 4, 8, 16, 32, 60]);
  expect(new Set(pauses.slice(7))).toEqual(new Set([60]));
  expect(hinted).toEqual([]);
  expect(counted).toEqual({ handOuts: AGENTS + 65, calls: 2 * AGENTS + 3 * 65 });
  expect(written).toBeLessThanOrEqual(4 * counted.handOuts);

  const away = await secondsLeft();
  expect(away).toBeLessThanOrEqual(60);
  // The last tried build follows a second after the others.
  pass(away + 1);
  await pool.sweep();
  const started: string[] = [];
  for (const _ of agents) {
    const holder = (await claim(await nextHinted()))!;
    value(await pool.deliver({ ...holder, environment: [] }));
    value(await pool.start(holder));
    started.push(holder.jobId);
  }
  expect(started.sort()).toEqual(builds.sort());
});

it("agents claim and give back every five seconds if the Worker cannot tell which part is down", async () => {
  const { pool, agents, counted, nextHinted, claim, takeBack, enqueue } = await crowd("before");
  await enqueue();
  const before = await rowsOf(pool);
  for (const _ of agents) {
    const agent = await nextHinted();
    await takeBack((await claim(agent))!, {});
  }
  pass(5);
  await pool.sweep();
  for (const _ of agents) await takeBack((await claim(await nextHinted()))!, {});
  // 720 such rounds an hour: 36,000 hand-outs, 72,000 calls and 90,000 rows for 50 agents.
  expect(counted).toEqual({ handOuts: 2 * AGENTS, calls: 4 * AGENTS });
  expect((await rowsOf(pool)) - before).toBe(5 * AGENTS);
});
