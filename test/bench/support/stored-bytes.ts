import { buildLogName, poolName } from "../../../src/domain/durable-objects.ts";
import { type RegisteredAgent, runBuild } from "./build-requests.ts";
import { passTime, waitUntilIdle } from "./idle-hour.ts";
import type { KeepAliveClient } from "./keep-alive.ts";

/** The data that an object keeps on its disk. */
interface Stored {
  bytes: number;
  rows: Record<string, number>;
}

const storedIn = (http: KeepAliveClient, binding: string, name: string): Promise<Stored> =>
  http.request("GET", `/stored?binding=${binding}&name=${encodeURIComponent(name)}`);

/** Returns the bytes that a job's log object keeps, beyond those of an unused one. */
export const logBytes = async (http: KeepAliveClient, orgId: string, jobId: string): Promise<number> => {
  const bytesOf = async (id: string) => (await storedIn(http, "BUILD_LOG", buildLogName(orgId, id))).bytes;
  return (await bytesOf(jobId)) - (await bytesOf("never used"));
};

/** Pool tables whose rows do not belong to a build. */
const LASTING = ["meta", "state", "agent", "number"];

/** Returns the number of rows that the pool keeps for builds. */
export const buildRows = async (http: KeepAliveClient, orgId: string): Promise<number> => {
  const { rows } = await storedIn(http, "AGENT_POOL", poolName(orgId));
  const ofBuilds = Object.entries(rows).filter(([table]) => !LASTING.includes(table));
  return ofBuilds.reduce((sum, [, count]) => sum + count, 0);
};

/** Builds before the first measurement, so that data written once a day does not count. */
const WARM_UP = 20;

const sizeOf = async (db: D1Database): Promise<number> => (await db.prepare("SELECT 1").run()).meta.size_after;

/** Returns the bytes that D1 grows by for each of `builds`, with its indexes and its audit. */
export const bytesOfABuild = async (
  http: KeepAliveClient,
  db: D1Database,
  run: { trigger: { token: string; pipelineId: string }; agent: RegisteredAgent; builds: number },
): Promise<number> => {
  for (let build = 0; build < WARM_UP; build++) await runBuild(http, run.trigger, run.agent);
  await passTime(http, 60);
  await waitUntilIdle(http);
  const before = await sizeOf(db);
  for (let build = 0; build < run.builds; build++) await runBuild(http, run.trigger, run.agent);
  await passTime(http, 60);
  await waitUntilIdle(http);
  return ((await sizeOf(db)) - before) / run.builds;
};
