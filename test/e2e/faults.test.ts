import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { startProxy } from "../support/local/proxy.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

/* Short leases, so that tests do not wait long for their expiry. The service restarts in less time. */
const VARS = { START_SECONDS: "3", LEASE_SECONDS: "8", HEARTBEAT_SECONDS: "1", POLL_SECONDS: "5" };

let service: LocalService;
const agents: RunningAgent[] = [];

beforeAll(async () => {
  service = await startLocalService(VARS);
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  await service?.remove();
});

/** Expects every line from 1 to the count that the build printed at its end, once each and in order. */
const expectWhole = (log: string): void => {
  const count = Number(/^lines: (\d+)$/m.exec(log)?.[1]);
  const lines = [...log.matchAll(/^line (\d+)$/gm)].map((match) => Number(match[1]));
  expect(lines).toEqual(Array.from({ length: count }, (_, index) => index + 1));
};

/** Creates an organization for one test, so that several tests can wait for a lease to expire at the same time. */
const newStage = async (id: string, { expect }: TestContext) => {
  const client = await service.newOrganization(id);
  const go = join(service.folder, `go-${id}`);
  const logOf = async (id: string, query = ""): Promise<string> => {
    const headers = { Authorization: `Bearer ${client.token}` };
    return (await fetch(`${client.url}/build/${id}/log${query}`, { headers })).text();
  };
  return {
    logOf,
    start: async (name: string, options = {}): Promise<RunningAgent> => {
      const agent = await startAgent(client, service.folder, name, options);
      agents.push(agent);
      return agent;
    },
    get: (id: string): Promise<Build> => client.call<Build>("GET", `/build/${id}`),
    /** Starts a build that counts its lines until `end`. */
    startBuild: async (): Promise<Build> => {
      const git = makeRepository(service.folder, {
        ".millrace.yml": `steps:
  - run: |
      echo begun
      n=0
      while [ ! -e ${go} ]; do n=$((n+1)); echo "line $n"; sleep 0.2; done
      echo "lines: $n"
`,
      });
      const repository = await connectRepository(client, git);
      const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
      const build = await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" });
      await expect.poll(() => logOf(build.id)).toContain("line 3\n");
      return build;
    },
    /** Ends the build. @returns the ended build */
    end: (id: string): Promise<Build> => {
      writeFileSync(go, "");
      return waitForEnd(client, id);
    },
    /** Calls the service as the agent with this state folder does. */
    asAgent: async (state: string, lease: string, method: string, path: string, body: BodyInit, type: string) => {
      const { token } = JSON.parse(readFileSync(join(state, "identity.json"), "utf8"));
      const headers = { Authorization: `Bearer ${token}`, "X-Lease": lease, "Content-Type": type };
      return fetch(client.url + path, { method, headers, body });
    },
  };
};

describe("a build", () => {
  it("continues through a service restart, with no log byte lost or doubled", async (context) => {
    const { expect } = context;
    const { start, startBuild, logOf, end } = await newStage("restarted", context);
    await start("goes-on");
    const { id } = await startBuild();
    await service.restart();
    const size = (await logOf(id)).length;
    await expect.poll(async () => (await logOf(id)).length).toBeGreaterThan(size);
    expect(await end(id)).toMatchObject({ status: "succeeded", attempt: 1 });
    expectWhole(await logOf(id));
  });
});

describe.concurrent("a build", () => {
  it("is rerun by another agent if its own is killed, and late calls are rejected", async (context) => {
    const { expect } = context;
    const { start, startBuild, get, logOf, end, asAgent } = await newStage("killed", context);
    const first = await start("first");
    const { id } = await startBuild();
    const before = await get(id);
    first.process.kill("SIGKILL");
    await start("second");
    await expect.poll(async () => (await get(id)).agentId).not.toBe(before.agentId);
    await expect.poll(async () => (await get(id)).status).toBe("running");
    for (const lease of ["1", String(Date.parse(before.startedAt ?? "")), String(Date.now() - 1)]) {
      const finish = JSON.stringify({ status: "succeeded", exitCode: 0 });
      const refused = await asAgent(first.state, lease, "POST", `/build/${id}/finish`, finish, "application/json");
      expect(refused.status).toBe(409);
      const log = await asAgent(
        first.state,
        lease,
        "PUT",
        `/build/${id}/log?offset=0`,
        "zombie",
        "application/octet-stream",
      );
      expect(log.status).toBe(409);
    }
    expect(await end(id)).toMatchObject({ status: "succeeded", attempt: 2 });
    const log = await logOf(id);
    expectWhole(log);
    expect(log).not.toContain("zombie");
    expect(await logOf(id, "?attempt=1")).toContain("line 3\n");
  });

  it("has only one holder at its end if its agent freezes for longer than its lease", async (context) => {
    const { expect } = context;
    const { start, startBuild, get, logOf, end } = await newStage("frozen", context);
    const holder = await start("holder");
    const { id } = await startBuild();
    const before = await get(id);
    holder.process.kill("SIGSTOP");
    await start("third");
    await expect.poll(async () => (await get(id)).attempt).toBe(2);
    await expect.poll(async () => (await get(id)).status).toBe("running");
    const after = await get(id);
    expect(after.agentId).not.toBe(before.agentId);
    holder.process.kill("SIGCONT");
    await expect.poll(() => holder.printed()).toMatch(/lease/i);
    expect(await end(id)).toMatchObject({ status: "succeeded", attempt: 2, agentId: after.agentId });
    expectWhole(await logOf(id));
  });

  it("continues after a network cut during its log, with no byte lost or doubled", async (context) => {
    const { expect } = context;
    const { start, startBuild, get, logOf, end } = await newStage("cut", context);
    const proxy = await startProxy(service.port);
    const agent = await start("behind-a-cable", { url: `http://127.0.0.1:${proxy.port}` });
    const { id } = await startBuild();
    for (let cut = 0; cut < 3; cut++) {
      const size = (await logOf(id)).length;
      proxy.cut();
      await expect.poll(async () => (await get(id)).status).toBe("running");
      proxy.mend();
      await expect.poll(async () => (await logOf(id)).length).toBeGreaterThan(size);
    }
    expect(await end(id)).toMatchObject({ status: "succeeded", attempt: 1 });
    expectWhole(await logOf(id));
    await agent.stop();
    proxy.close();
  });

  it("is rerun at once if its agent is stopped by force, and the next log names the lost attempt", async (context) => {
    const { expect } = context;
    const { start, startBuild, get, logOf, end } = await newStage("stopped", context);
    const holder = await start("stopped");
    const { id } = await startBuild();
    holder.process.kill("SIGTERM");
    await expect.poll(() => holder.printed()).toContain("exits after the active build");
    await holder.stop();
    expect(await get(id)).toMatchObject({
      attempt: 1,
      message: expect.stringContaining("was stopped"),
    });
    await start("after-it");
    expect(await end(id)).toMatchObject({ status: "succeeded", attempt: 2 });
    const log = await logOf(id);
    const [, query = ""] = /^This is attempt 2\. The log of attempt 1: GET \S+\/log(\S+)$/m.exec(log) ?? [];
    expect(log).toContain("Attempt 1 was lost. Its agent was stopped.\n");
    expect(await logOf(id, query)).toMatch(/line 3\n.*The agent was stopped: this attempt is lost\n$/s);
  });
});
