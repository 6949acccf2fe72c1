import { type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import type { Counts } from "./counts.ts";
import { countedWhile, passTime, quiet } from "./idle-hour.ts";
import type { KeepAlive } from "./keep-alive.ts";
import { LOG, type Mill } from "./life.ts";

export const BUILD_SECONDS = 300;
/** Seconds of them in which its steps write. */
const WRITING_SECONDS = 60;
const HEARTBEAT_SECONDS = 15;
const STEPS = 5;

/**
 * What a build of five minutes costs from its trigger until all is written, as an agent with a socket runs it, whose
 * steps write for a minute of it. The agent sends one chunk of log a second at most, but for the first few.
 */
export const typicalBuild = (
  http: KeepAlive,
  trigger: { token: string; pipelineId: string },
  { id: agentId, orgId, token }: Mill,
  chunksASecond = 1,
): Promise<Counts> =>
  countedWhile(http, async () => {
    const body = JSON.stringify({ pipelineId: trigger.pipelineId, branch: "main" });
    await http.get("POST", "/build", { token: trigger.token, body });
    const { build, lease } = await http.get<Job>("GET", `/buildagent/${agentId}/poll?wait=0`, { token });
    const headers = { [LEASE_HEADER]: String(lease) };
    const tell = (path: string, words?: object) =>
      http.get("POST", path, { token, headers, body: words && JSON.stringify(words) });
    await tell(`/build/${build.id}/start`);
    let offset = 0;
    const write = async (final = "") => {
      const path = `/build/${build.id}/log?offset=${offset}${final}`;
      const octets = { ...headers, "Content-Type": "application/octet-stream" };
      offset = (await http.get<{ next: number }>("PUT", path, { token, headers: octets, body: LOG })).next;
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
    await quiet(http);
  });
