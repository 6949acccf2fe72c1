import { evictDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { HINT_PING, HINT_PONG } from "../../src/protocol/jobs.ts";
import { actor, busy, newBuild, type Pool, poolOf, registered, value } from "./agent-pool-support.ts";

type Speaker = { agentId: string; tokenHash: string };

const MINUTE_MS = 60_000;

const connect = (pool: Pool, { agentId, tokenHash }: Speaker, until: number | null) => {
  const headers: Record<string, string> = { Upgrade: "websocket", "X-Agent-Id": agentId, "X-Token-Hash": tokenHash };
  if (until !== null) headers["X-Deadline"] = String(until);
  return pool.fetch("https://pool/wait", { headers });
};

/** An open socket whose messages can be awaited one after the other. */
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

describe("waiting for a build", () => {
  it("ends with a hint to one agent, and to the next one where the first does not follow it", async () => {
    const pool = poolOf("wake");
    const [first, second] = [await registered(pool, "wake"), await registered(pool, "wake")];
    const [one, two] = [await listen(pool, first), await listen(pool, second)];
    const { id } = value(await pool.enqueue(newBuild("wake")));
    expect(await one.next()).toEqual({ type: "look", buildId: id });
    expect(two.heard).toEqual([]);
    expect(await two.next()).toEqual({ type: "look", buildId: id });
    expect(value(await pool.claim({ ...second, bootId: null }))?.buildId).toBe(id);
  });

  it("ends at once where a build is queued already", async () => {
    const pool = poolOf("early");
    const { id } = value(await pool.enqueue(newBuild("early")));
    const waiter = await listen(pool, await registered(pool, "early"));
    expect(await waiter.next()).toEqual({ type: "look", buildId: id });
  });

  it("goes on while the object hibernates", async () => {
    const pool = poolOf("sleep");
    const agent = await registered(pool, "sleep");
    const waiter = await listen(pool, agent, null);
    await evictDurableObject(pool, { webSockets: "hibernate" });
    const { id } = value(await pool.enqueue(newBuild("sleep")));
    expect(await waiter.next()).toEqual({ type: "look", buildId: id });
    expect(value(await pool.getAgent(agent.agentId))).toMatchObject({ isOnline: true, status: 1 });
  });

  it("ends at its deadline, and when the socket is closed: the next agent gets the hint", async () => {
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

  it("is refused with the token of another agent, and ends when the agent is removed", async () => {
    const pool = poolOf("gone");
    const agent = await registered(pool, "gone");
    expect((await connect(pool, { ...agent, tokenHash: "another" }, null)).status).toBe(401);
    const waiter = await listen(pool, agent, null);
    value(await pool.removeAgent(agent.agentId, actor));
    expect(await waiter.closed).toBe(4401);
    expect((await connect(pool, agent, null)).status).toBe(401);
  });
});

describe("a socket", () => {
  it.each([
    ["a text", "talk", "hello"],
    ["bytes", "bytes", new Uint8Array([112, 105, 110, 103])],
    ["a ping with more behind it", "more", `${HINT_PING} `],
  ])("is closed when it sends %s, and what it was offered goes to another", async (_, org, message) => {
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

describe("a cancel", () => {
  it("is sent to the socket of the working agent", async () => {
    const pool = poolOf("cancel");
    const holder = await busy(pool, "cancel");
    const own = await listen(pool, holder, null);
    value(await pool.cancel({ buildId: holder.buildId, actor }));
    expect(await own.next()).toEqual({ type: "cancel", buildId: holder.buildId });
    expect(value(await pool.heartbeat({ ...holder, bootId: "b1" }))).toMatchObject({
      cancel: true,
      reason: "canceled",
    });
  });
});
