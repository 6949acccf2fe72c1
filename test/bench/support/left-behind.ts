import { createHash } from "node:crypto";
import type { OpenedArtifact } from "../../../src/protocol/artifact.ts";
import { type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { packed, sha256 } from "../../support/artifact-files.ts";
import { reportedTest, testReport } from "../../support/tests.ts";
import { type RegisteredAgent, SAID } from "./build-requests.ts";
import { passTime, waitUntilIdle } from "./idle-hour.ts";
import type { KeepAliveClient } from "./keep-alive.ts";
import { type BuildTrigger, triggerBuild } from "./typical-build.ts";

/** Sends an agent's data about a job before the job's end. */
export type Leave = (http: KeepAliveClient, agent: RegisteredAgent, job: Job) => Promise<void>;

/** Runs a short build with one job and no log. Its agent sends this data. */
export const buildThatLeaves = async (
  http: KeepAliveClient,
  { trigger, agent }: { trigger: BuildTrigger; agent: RegisteredAgent },
  leave: Leave,
): Promise<void> => {
  await triggerBuild(http, trigger);
  const poll = `/buildagent/${agent.id}/poll?wait=0`;
  const job = await http.request<Job>("GET", poll, { token: agent.token, headers: SAID });
  const held = { token: agent.token, headers: { [LEASE_HEADER]: String(job.lease) } };
  const path = `/build/${job.build.id}`;
  await http.request("POST", `${path}/start`, held);
  await leave(http, agent, job);
  await http.request("POST", `${path}/finish`, { ...held, body: JSON.stringify({ status: "failed", exitCode: 1 }) });
};

/** Sends a report with so many failed tests. */
export const leaveTests =
  (failed: number): Leave =>
  async (http, { token }, { build, lease }) => {
    const report = testReport(
      Array.from({ length: failed }, (_, n) => reportedTest(n)),
      1000,
    );
    const headers = { [LEASE_HEADER]: String(lease) };
    await http.request("PUT", `/job/${build.id}/tests`, { token, headers, body: JSON.stringify(report) });
  };

const md5 = (bytes: string | Buffer) => createHash("md5").update(bytes);

/** Sends an artifact with one file in so many parts. */
export const leaveArtifact =
  (parts: number): Leave =>
  async (http, { token }, { build, lease }) => {
    const content = "x".repeat((parts - 1) * LIMITS.artifactPartBytes + 1000);
    const { list, bytes } = packed({ app: content });
    const held = { [LEASE_HEADER]: String(lease) };
    const path = `/job/${build.id}/artifact`;
    const wanted = JSON.stringify({ name: "app", as: "files", bytes: bytes.length, files: 1 });
    const opened = await http.request<OpenedArtifact>("POST", path, { token, headers: held, body: wanted });
    const { artifactId, grant } = opened;
    const etags: string[] = [];
    const md5s: Buffer[] = [];
    for (let part = 1; part <= parts; part++) {
      const body = content.slice((part - 1) * LIMITS.artifactPartBytes, part * LIMITS.artifactPartBytes);
      const digest = sha256(new TextEncoder().encode(body));
      const headers = { "X-Grant": grant, "X-Content-SHA256": digest, "Content-Type": "application/octet-stream" };
      const sent = await http.request<{ etag: string }>("PUT", `${path}/${artifactId}/part/${part}`, {
        ...{ token, headers, body },
      });
      etags.push(sent.etag);
      md5s.push(md5(body).digest());
    }
    const headers = { ...held, "X-Grant": grant };
    const end = { list, etags, ...(parts > 1 && { md5: md5(Buffer.concat(md5s)).digest("hex") }) };
    await http.request("POST", `${path}/${artifactId}/done`, { token, headers, body: JSON.stringify(end) });
  };

const setDatabase = (http: KeepAliveClient, isAway: boolean) => http.request("POST", `/database?away=${isAway}`);

/** Wraps the trigger: the delivery arrives while D1 is unavailable, and the service accepts it when D1 is back. */
export const keptTrigger = (http: KeepAliveClient, trigger: BuildTrigger): BuildTrigger => ({
  ...trigger,
  push: async () => {
    await setDatabase(http, true);
    await trigger.push?.();
    await setDatabase(http, false);
    await passTime(http, 60);
    await waitUntilIdle(http);
  },
});

/** Polls so many times for a build that waits while D1 is unavailable, as an agent does every five seconds. */
export const pollInVain = async (http: KeepAliveClient, { id, token }: RegisteredAgent, polls: number) => {
  await setDatabase(http, true);
  for (let poll = 0; poll < polls; poll++) {
    const { status } = await http.send("GET", `/buildagent/${id}/poll?wait=0`, { token, headers: SAID });
    if (status < 500 && status !== 204) throw new Error(`A poll without a database got status ${status}`);
    await passTime(http, 5);
  }
  await waitUntilIdle(http);
  await setDatabase(http, false);
};
