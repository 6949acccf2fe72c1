import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type HeartbeatReply, HINT_PING, HINT_PONG } from "../../../src/protocol/jobs.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { actor, busy, newBuild, type Pool, poolOf, registered, value } from "./support.ts";

type Speaker = { agentId: string; tokenHash: string };

const MINUTE_MS = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

const connect = (pool: Pool, { agentId, tokenHash }: Speaker, until: number | null) => {
  const headers: Record<string, string> = { Upgrade: "websocket", "X-Agent-Id": agentId, "X-Token-Hash": tokenHash };
  if (until !== null) headers["X-Deadline"] = String(until);
  return pool.fetch("https://pool/wait", { headers });
};

/** Opens a socket and returns its messages one by one. */
const listen = async (pool: Pool, speaker: Speaker, until: number | null = Date.now() + MINUTE_MS) => {
  const { webSocket, status } = await connect(pool, speaker, until);
  if (!webSocket) throw new Error(`no socket: ${status}`);
  const heard: string[] = [];
  let told = () => {};
  webSocket.addEventListener("message", ({ data }) => {
    heard.push(String(data));
    told();
  });
  const closed = new Promise<number>((resolve) => webSocket.addEventListener("close", ({ code }) => resolve(code)));
  webSocket.accept();
  const next = async (): Promise<unknown> => {
    while (heard.length === 0) {
      await new Promise<void>((resolve) => {
        told = resolve;
      });
    }
    const text = heard.shift()!;
    return text === HINT_PONG ? text : JSON.parse(text);
  };
  return { socket: webSocket, next, closed, heard };
};

type Listener = Awaited<ReturnType<typeof listen>>;

describe("an agent's wait for a build", () => {
  it("ends with a hint to one agent, and to the next one if the first does not follow it", async () => {
    const pool = poolOf("wake");
    const [first, second] = [await registered(pool, "wake"), await registered(pool, "wake")];
    const [one, two] = [await listen(pool, first), await listen(pool, second)];
    const { id } = value(await pool.enqueue(newBuild("wake")));
    expect(await one.next()).toEqual({ type: "look", buildId: id });
    expect(two.heard).toEqual([]);
    expect(await two.next()).toEqual({ type: "look", buildId: id });
    expect(value(await pool.claim({ ...second, bootId: null }))?.jobId).toBe(id);
  });

  it("ends at once if a build is already queued", async () => {
    const pool = poolOf("early");
    const { id } = value(await pool.enqueue(newBuild("early")));
    const waiter = await listen(pool, await registered(pool, "early"));
    expect(await waiter.next()).toEqual({ type: "look", buildId: id });
  });

  it("continues while the object hibernates", async () => {
    const pool = poolOf("sleep");
    const agent = await registered(pool, "sleep");
    const waiter = await listen(pool, agent, null);
    await evictDurableObject(pool, { webSockets: "hibernate" });
    const { id } = value(await pool.enqueue(newBuild("sleep")));
    expect(await waiter.next()).toEqual({ type: "look", buildId: id });
    expect(value(await pool.getAgent(agent.agentId))).toMatchObject({ isOnline: true, status: 1 });
  });

  it("ends at its deadline, and when the socket closes: the next agent gets the hint", async () => {
    const pool = poolOf("late");
    const [late, gone, here] = [
      await registered(pool, "late"),
      await registered(pool, "late"),
      await registered(pool, "late"),
    ];
    const past = await listen(pool, late, Date.now() - 1);
    const left = await listen(pool, gone);
    left.socket.close(1000);
    await left.closed;
    const waiter = await listen(pool, here);
    const { id } = value(await pool.enqueue(newBuild("late")));
    expect(await waiter.next()).toEqual({ type: "look", buildId: id });
    expect([...past.heard, ...left.heard]).toEqual([]);
  });

  it("answers pings without waking the object, and counts them as contact", async () => {
    const pool = poolOf("ping");
    const agent = await registered(pool, "ping");
    const { socket, next } = await listen(pool, agent, null);
    const before = value(await pool.getAgent(agent.agentId)).lastHeartbeatAt;
    await evictDurableObject(pool, { webSockets: "hibernate" });
    while (Date.now() <= Date.parse(before)) await pool.metrics();
    socket.send(HINT_PING);
    expect(await next()).toBe(HINT_PONG);
    expect(value(await pool.getAgent(agent.agentId)).lastHeartbeatAt > before).toBe(true);
  });

  it("is rejected with another agent's token, and ends when the agent is removed", async () => {
    const pool = poolOf("gone");
    const agent = await registered(pool, "gone");
    expect((await connect(pool, { ...agent, tokenHash: "another" }, null)).status).toBe(401);
    const waiter = await listen(pool, agent, null);
    value(await pool.removeAgent(agent.agentId, actor));
    expect(await waiter.closed).toBe(4401);
    expect((await connect(pool, agent, null)).status).toBe(401);
  });
});

describe("an agent's socket", () => {
  it.each([
    ["a text", "talk", "hello"],
    ["bytes", "bytes", new Uint8Array([112, 105, 110, 103])],
    ["a ping with more behind it", "more", `${HINT_PING} `],
  ])("is closed when it sends %s, and its offer goes to another agent", async (_, org, message) => {
    const pool = poolOf(org);
    const [talker, quiet] = [await registered(pool, org), await registered(pool, org)];
    const [loud, other] = [await listen(pool, talker, null), await listen(pool, quiet, null)];
    const { id } = value(await pool.enqueue(newBuild(org)));
    expect(await loud.next()).toEqual({ type: "look", buildId: id });
    loud.socket.send(message);
    loud.socket.send(message);
    expect(await loud.closed).toBe(1008);
    expect(await other.next()).toEqual({ type: "look", buildId: id });
  });

  it("is closed when its agent opens a third one, and the agent stays reachable", async () => {
    const pool = poolOf("newest");
    const agent = await registered(pool, "newest");
    const oldest = await listen(pool, agent, null);
    await evictDurableObject(pool, { webSockets: "hibernate" });
    const [second, newest] = [await listen(pool, agent, null), await listen(pool, agent)];
    expect(await oldest.closed).toBe(1008);
    const { id } = value(await pool.enqueue(newBuild("newest")));
    expect(await second.next()).toEqual({ type: "look", buildId: id });
    expect(await newest.next()).toEqual({ type: "look", buildId: id });
  });
});

/** Sends a heartbeat as the agent does. @returns the answer */
const beat = async ({ socket, next }: Listener, lease: number, boot = "b1"): Promise<HeartbeatReply> => {
  socket.send(JSON.stringify({ type: "heartbeat", lease, boot }));
  return (await next()) as HeartbeatReply;
};

const stored = (pool: Pool, buildId: string) =>
  runInDurableObject(pool, (_object, { storage: { sql } }) => {
    const [row] = sql
      .exec<{ facts: string }>("SELECT facts -> '$.job' AS facts FROM build WHERE id = ?", buildId)
      .toArray();
    return JSON.parse(row!.facts).lease;
  });

const rowsWrittenBy = (pool: Pool, work: () => Promise<unknown>): Promise<number> => {
  const changes = () =>
    runInDurableObject(pool, (_object, { storage: { sql } }) =>
      Number(sql.exec("SELECT total_changes() AS count").one().count),
    );
  return changes().then(async (before) => {
    await work();
    return (await changes()) - before;
  });
};

describe("a heartbeat on the agent's own socket", () => {
  it("renews the lease as HTTP does, gets the same answer, and usually stores nothing", async () => {
    const pool = poolOf("beats");
    const holder = await busy(pool, "beats");
    const own = await listen(pool, holder, null);
    const byHttp = value(await pool.heartbeat({ ...holder, bootId: "b1" }));
    const first = await beat(own, holder.fence);
    expect(first).toEqual({ ...byHttp, type: "heartbeat", lease: holder.fence, leaseExpiresAt: first.leaseExpiresAt });
    expect(await stored(pool, holder.jobId)).toMatchObject({ keptBy: "socket", graced: false });
    let last = first;
    expect(
      await rowsWrittenBy(pool, async () => {
        for (let n = 0; n < 5; n++) last = await beat(own, holder.fence);
      }),
    ).toBe(0);
    expect(last.leaseExpiresAt! >= first.leaseExpiresAt!).toBe(true);
  });

  it("keeps its deadline while the object hibernates, stored or not", async () => {
    const pool = poolOf("hibernates");
    const holder = await busy(pool, "hibernates");
    const own = await listen(pool, holder, null);
    await beat(own, holder.fence);
    const told = Date.parse((await beat(own, holder.fence)).leaseExpiresAt!);
    await runInDurableObject(pool, (_object, { storage: { sql } }) => {
      sql.exec("UPDATE build SET facts = json_set(facts, '$.job.lease.expiresAt', ?)", told - 15_000);
    });
    await evictDurableObject(pool, { webSockets: "hibernate" });
    // The alarm finds an active lease, although the stored deadline has passed.
    vi.setSystemTime(told - 1);
    await pool.sweep();
    expect(value(await pool.getBuild(holder.jobId)).status).toBe("running");
    vi.setSystemTime(told);
    await pool.sweep();
    expect(value(await pool.getBuild(holder.jobId)).status).toBe("queued");
  });

  it("extends the lease once if the object went down with the socket", async () => {
    const pool = poolOf("down");
    const holder = await busy(pool, "down");
    const own = await listen(pool, holder, null);
    const told = Date.parse((await beat(own, holder.fence)).leaseExpiresAt!);
    const restart = async () => {
      await expect(runInDurableObject(pool, (_object, state) => state.abort("a deploy"))).rejects.toThrow("a deploy");
      return poolOf("down");
    };
    const again = await restart();
    vi.setSystemTime(told - 10);
    value(await again.getBuild(holder.jobId));
    expect(await stored(again, holder.jobId)).toMatchObject({ graced: true, keptBy: null });
    const graced = (await stored(again, holder.jobId)).expiresAt;
    expect(graced).toBeGreaterThan(told);
    const third = await restart();
    value(await third.getBuild(holder.jobId));
    expect((await stored(third, holder.jobId)).expiresAt).toBe(graced);
    vi.setSystemTime(graced);
    await third.sweep();
    expect(value(await third.getBuild(holder.jobId)).status).toBe("queued");
  });

  it("is rejected for another agent's lease, for an earlier boot, and on a poll's socket", async () => {
    const pool = poolOf("foreign");
    const [holder, other] = [await busy(pool, "foreign"), await registered(pool, "foreign")];
    const own = await listen(pool, holder, null);
    const before = await stored(pool, holder.jobId);
    const lost = { type: "heartbeat", lease: holder.fence, cancel: true, reason: "lease-lost" };
    expect(await beat(await listen(pool, other, null), holder.fence)).toEqual(lost);
    const poll = await listen(pool, other);
    poll.socket.send(JSON.stringify({ type: "heartbeat", lease: holder.fence }));
    expect(await poll.closed).toBe(1008);
    expect(await stored(pool, holder.jobId)).toEqual(before);
    await beat(own, holder.fence, "b2");
    expect(await beat(own, holder.fence, "b1")).toEqual(lost);
  });

  it.each([
    ["no lease", { type: "heartbeat" }],
    ["a lease that is no number", { type: "heartbeat", lease: "1" }],
    ["a lease below zero", { type: "heartbeat", lease: -1 }],
    ["a boot that is no text", { type: "heartbeat", lease: 1, boot: {} }],
    ["another type", { type: "finish", lease: 1 }],
    ["too many characters", { type: "heartbeat", lease: 1, padding: "x".repeat(2_000) }],
  ])("closes the socket with %s", async (what, message) => {
    const pool = poolOf("malformed");
    const own = await listen(pool, await registered(pool, "malformed"), null);
    own.socket.send(JSON.stringify(message));
    expect(await own.closed, what).toBe(1008);
  });

  it("is not accepted in a flood", async () => {
    const pool = poolOf("flood");
    const own = await listen(pool, await registered(pool, "flood"), null);
    for (let n = 0; n <= LIMITS.socketMessagesPerMinute; n++)
      own.socket.send(JSON.stringify({ type: "heartbeat", lease: 1 }));
    expect(await own.closed).toBe(1008);
  });
});

describe("a cancel over sockets", () => {
  it("is sent again to each socket that the agent opens, and every 15 s, until a heartbeat confirms it", async () => {
    const pool = poolOf("again");
    const holder = await busy(pool, "again");
    value(await pool.cancel({ buildId: holder.jobId, actor }));
    const hint = { type: "cancel", buildId: holder.jobId };
    const own = await listen(pool, holder, null);
    expect(await own.next()).toEqual(hint);
    vi.setSystemTime(Date.now() + 15_000);
    await pool.sweep();
    expect(await own.next()).toEqual(hint);
    expect(await beat(own, holder.fence)).toMatchObject({ type: "heartbeat", cancel: true, reason: "canceled" });
    const newer = await listen(pool, holder, null);
    vi.setSystemTime(Date.now() + 15_000);
    await pool.sweep();
    expect([...own.heard, ...newer.heard]).toEqual([]);
  });

  it("is sent to the socket of the working agent", async () => {
    const pool = poolOf("cancel");
    const holder = await busy(pool, "cancel");
    const own = await listen(pool, holder, null);
    value(await pool.cancel({ buildId: holder.jobId, actor }));
    expect(await own.next()).toEqual({ type: "cancel", buildId: holder.jobId });
    expect(value(await pool.heartbeat({ ...holder, bootId: "b1" }))).toMatchObject({
      cancel: true,
      reason: "canceled",
    });
  });
});
