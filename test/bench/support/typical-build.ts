import { type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import { LOG, type RegisteredAgent } from "./build-requests.ts";
import type { Counts } from "./counts.ts";
import { countedWhile, passTime, waitUntilIdle } from "./idle-hour.ts";
import type { KeepAliveClient } from "./keep-alive.ts";

export const BUILD_SECONDS = 300;
/** Seconds in which its steps write output. */
const WRITING_SECONDS = 60;
const HEARTBEAT_SECONDS = 15;
const STEPS = 5;

/**
 * Counts for a build of five minutes by an agent with a socket, from the trigger until everything is written to D1. Its
 * steps write for one minute; apart from the first few, the agent sends at most one log chunk a second.
 */
export const typicalBuild = (
  http: KeepAliveClient,
  trigger: { token: string; pipelineId: string },
  { id: agentId, orgId, token }: RegisteredAgent,
  chunksASecond = 1,
): Promise<Counts> =>
  countedWhile(http, async () => {
    const body = JSON.stringify({ pipelineId: trigger.pipelineId, branch: "main" });
    await http.request("POST", "/build", { token: trigger.token, body });
    const { build, lease } = await http.request<Job>("GET", `/buildagent/${agentId}/poll?wait=0`, { token });
    const headers = { [LEASE_HEADER]: String(lease) };
    const tell = (path: string, words?: object) =>
      http.request("POST", path, { token, headers, body: words && JSON.stringify(words) });
    await tell(`/build/${build.id}/start`);
    let offset = 0;
    const write = async (final = "") => {
      const path = `/build/${build.id}/log?offset=${offset}${final}`;
      const octets = { ...headers, "Content-Type": "application/octet-stream" };
      offset = (await http.request<{ next: number }>("PUT", path, { token, headers: octets, body: LOG })).next;
    };
    const chunks = WRITING_SECONDS * chunksASecond;
    const beats = BUILD_SECONDS / HEARTBEAT_SECONDS;
    for (let beat = 1; beat <= beats; beat++) {
      for (let chunk = 0; chunk < chunks / beats; chunk++) {
        await write(beat === beats && chunk === chunks / beats - 1 ? "&final=true" : "");
      }
      if (beat % (beats / STEPS) === 0) {
        const name = `step ${(beat * STEPS) / beats}`;
        const step = { id: null, name, status: "succeeded", exitCode: 0, startedAt: null, finishedAt: null };
        await tell(`/build/${build.id}/progress`, { steps: [{ ...step, logOffset: null }] });
      }
      await passTime(http, orgId, HEARTBEAT_SECONDS);
      await tell(`/buildagent/${agentId}/heartbeat`);
    }
    await tell(`/build/${build.id}/finish`, { status: "succeeded", exitCode: 0 });
    await passTime(http, orgId, 1);
    await waitUntilIdle(http);
  });
