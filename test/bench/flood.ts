import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { serveBundled } from "../support/served-worker.ts";
import { withStorageIn } from "../support/storage-in.ts";
import { type RegisteredAgent, registerAgent } from "./support/build-requests.ts";
import { type Comparison, describeComparison } from "./support/comparison.ts";
import { KeepAliveClient } from "./support/keep-alive.ts";
import { memoryOf, workerdProcesses } from "./support/process-usage.ts";

/* Heartbeats of an agent before, while and after another agent in the organization floods its sockets. */
const SAMPLES = 100;
const FLOOD_MS = 5_000;
const SOCKETS = 8;
const MESSAGE = "x".repeat(200);
const IN_FLIGHT = 1024 * 1024;

const service = await withStorageIn("memory", () => serveBundled({ requestsPerMinute: 1200 }));
const client = await service.newOrganization("flood");
const http = new KeepAliveClient(service.url);
const [flooding, other] = [await registerAgent(client, http, "flooding"), await registerAgent(client, http, "other")];
const [workerd = 0] = workerdProcesses();

const heartbeats = async (): Promise<number[]> => {
  const took: number[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    const begun = performance.now();
    await http.request("POST", `/buildagent/${other.id}/heartbeat`, { token: other.token });
    took.push(performance.now() - begun);
    await delay(FLOOD_MS / SAMPLES / 2);
  }
  return took;
};

/** Sends as fast as the socket allows, and replaces it when it closes, until `end`. */
const flood = async ({ id, token }: RegisteredAgent, end: AbortSignal): Promise<{ sent: number; opened: number }> => {
  let sent = 0;
  let opened = 0;
  while (!end.aborted) {
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/buildagent/${id}/poll`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const closed = new Promise((resolve) => socket.on("close", resolve).on("error", resolve));
    await Promise.race([closed, new Promise((resolve) => socket.on("open", resolve))]);
    if (socket.readyState === WebSocket.OPEN) opened++;
    while (socket.readyState === WebSocket.OPEN && !end.aborted) {
      while (socket.bufferedAmount > IN_FLIGHT && socket.readyState === WebSocket.OPEN) await delay(1);
      for (let n = 0; n < 100; n++, sent++) socket.send(MESSAGE);
      await new Promise(setImmediate);
    }
    socket.terminate();
    await closed;
  }
  return { sent, opened };
};

await heartbeats();
const heartbeatTimes: Comparison = { floor: await heartbeats(), own: [] };
const before = memoryOf(workerd);
const end = new AbortController();
const floods = Array.from({ length: SOCKETS }, () => flood(flooding, end.signal));
heartbeatTimes.own = await heartbeats();
end.abort();
const done = await Promise.all(floods);
heartbeatTimes.own.push(...(await heartbeats()));
const total = (what: "sent" | "opened") => done.reduce((sum, one) => sum + one[what], 0);
console.log(`  ${SOCKETS} floods at once opened ${total("opened")} sockets and sent ${total("sent")} messages`);
console.log(`    another agent's heartbeat, beside one without them\n      ${describeComparison(heartbeatTimes)}`);
console.log(`    ${((memoryOf(workerd) - before) / 1024 / 1024).toFixed(0)} MiB more memory`);
http.close();
await service.stop();
