import type { Build } from "../../src/protocol/build.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import { startAgent } from "../support/local/agent.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { serveBundled } from "../support/served-worker.ts";
import { type Storage, withStorageIn } from "../support/storage-in.ts";
import { ms, quantile } from "./support/statistics.ts";

const BUILDS = 50;
const FILE = "steps:\n  - run: echo first-line-$((6 * 7))\n";

/** Milliseconds from the trigger until a follower of the log gets the first line of the step, and until the end. */
const once = async (url: string, token: string, pipelineId: string): Promise<{ line: number; end: number }> => {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const begun = performance.now();
  const body = JSON.stringify({ pipelineId, branch: "main" });
  const { id } = (await (await fetch(`${url}/build`, { method: "POST", headers, body })).json()) as Build;
  const log = await fetch(`${url}/build/${id}/log`, { headers: { ...headers, Accept: "text/event-stream" } });
  let line = Number.NaN;
  for await (const text of log.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    if (Number.isNaN(line) && text.includes("first-line-42")) line = performance.now() - begun;
  }
  return { line, end: performance.now() - begun };
};

/** Runs builds one after the other, with the real agent and real git. */
const measure = async (storage: Storage): Promise<{ line: number; end: number }[]> => {
  const service = await withStorageIn(storage, serveBundled);
  const client = await service.newOrganization("bench");
  const git = makeRepository(service.folder, { ".millrace.yml": FILE });
  const repository = await connectRepository(client, git);
  const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
  const agent = await startAgent(client, service.folder, "bench");
  const times: { line: number; end: number }[] = [];
  for (let n = 0; n < BUILDS; n++) times.push(await once(client.url, client.token, pipeline.id));
  await agent.stop();
  await service.stop();
  return times;
};

/** Measures from the trigger to the first line of the step at a follower of the log. */
export const benchFirstLine = async (): Promise<void> => {
  console.log(`trigger to first step line, ${BUILDS} builds, one real agent (Buildbot 3.7.0: p50 111 ms, p99 206 ms):`);
  for (const storage of ["memory", "disk"] as const) {
    const times = await measure(storage);
    const figures = (values: number[]) => `p50 ${ms(quantile(values, 0.5))}  p99 ${ms(quantile(values, 0.99))}`;
    console.log(`  state ${storage === "disk" ? "on disk" : "in memory"}: ${figures(times.map(({ line }) => line))}`);
    console.log(`    to the log's end: ${figures(times.map(({ end }) => end))}`);
  }
};

if (import.meta.main) await benchFirstLine();
