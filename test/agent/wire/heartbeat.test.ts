import { describe, expect, it, onTestFinished } from "vitest";
import { AutoResetEvent } from "../../../src/agent/wire/auto-reset-event.ts";
import { ApiClient } from "../../../src/agent/wire/client.ts";
import { keepLease } from "../../../src/agent/wire/heartbeat.ts";
import { HintSocket } from "../../../src/agent/wire/next-job.ts";
import { IDENTITY, startFakeService } from "../support/fake-service.ts";
import { waitUntil } from "../support/wait-until.ts";

const LEASE = 7;

/** Sends an agent's heartbeats for one lease, on a real socket to a service that the test scripts. */
const beating = async ({ isAllowed = true } = {}) => {
  const service = await startFakeService();
  const end = new AbortController();
  const client = new ApiClient({ url: service.url, token: "mra_secret", bootId: "boot" });
  const cancelHint = new AutoResetEvent();
  const hints = new HintSocket({ client, agentId: IDENTITY.id, heartbeatSeconds: 1, signal: end.signal });
  const socketEnd = hints.run();
  await hints.firstAttempt(5000);
  const stops: string[] = [];
  const kept = keepLease({
    client,
    agentId: IDENTITY.id,
    lease: LEASE,
    heartbeatSeconds: 0.1,
    socket: isAllowed ? hints.heartbeats.allow() : null,
    cancelHint,
    onCancel: (reason) => stops.push(reason),
    signal: end.signal,
  });
  onTestFinished(async () => {
    end.abort();
    await Promise.all([kept, socketEnd]);
    await service.close();
  });
  const byHttp = () => service.requests.filter(({ path }) => path.endsWith("/heartbeat"));
  return { service, byHttp, stops, end, kept };
};

describe("a build's heartbeats", () => {
  it("use the socket, with lease and boot, and never HTTP", async () => {
    const { service, byHttp, stops } = await beating();
    await waitUntil(() => service.socketBeats.length >= 3);
    expect(service.socketBeats[0]).toEqual({ type: "heartbeat", lease: LEASE, boot: "boot" });
    service.heartbeat = { cancel: true, reason: "canceled" };
    await waitUntil(() => stops.length > 0);
    expect([stops[0], byHttp()]).toEqual(["canceled", []]);
  });

  it("use HTTP if the job does not name the socket, as with a service of an older release", async () => {
    const { service, byHttp } = await beating({ isAllowed: false });
    await waitUntil(() => byHttp().length >= 2);
    expect(service.socketBeats).toEqual([]);
    expect(byHttp()[0]?.headers).toMatchObject({ "x-lease": "7", "x-boot-id": "boot" });
  });

  it("use HTTP after a missing answer, and the socket again once it answers", async () => {
    const { service, byHttp } = await beating();
    const usual = service.onSocketBeat;
    service.onSocketBeat = () => {};
    await waitUntil(() => byHttp().length >= 3);
    service.onSocketBeat = usual;
    const before = service.socketBeats.length;
    await waitUntil(() => service.socketBeats.length > before);
    const [sent, count] = [service.socketBeats.length, byHttp().length];
    await waitUntil(() => service.socketBeats.length >= sent + 4);
    expect(byHttp().length).toBeLessThanOrEqual(count + 2);
  });

  it("end cleanly with the lease, even while one is under way or rejected", async () => {
    const { service, byHttp, stops, end, kept } = await beating({ isAllowed: false });
    service.intercept = async ({ path }) => {
      if (!path.endsWith("/heartbeat")) return null;
      await new AutoResetEvent().wait(null, end.signal);
      return { status: 409, body: {} };
    };
    const before = byHttp().length;
    await waitUntil(() => byHttp().length > before);
    end.abort();
    await expect(kept).resolves.toBeUndefined();
    expect(stops).toEqual([]);
  });

  it("ignore an answer for another lease, however late", async () => {
    const { service, byHttp, stops } = await beating();
    service.onSocketBeat = (_, client) =>
      client.send(JSON.stringify({ type: "heartbeat", lease: LEASE - 1, cancel: true, reason: "lease-lost" }));
    await waitUntil(() => byHttp().length >= 2);
    expect(stops).toEqual([]);
  });

  it("use HTTP after the service closed the socket for one, and do not retry there", async () => {
    const { service, byHttp } = await beating();
    service.onSocketBeat = (_, client) => client.close(1008);
    await waitUntil(() => service.sockets() === 0 && byHttp().length >= 1);
    await waitUntil(() => service.sockets() === 1);
    const [sent, count] = [service.socketBeats.length, byHttp().length];
    await waitUntil(() => byHttp().length >= count + 3);
    expect(service.socketBeats.length).toBe(sent);
  });
});
