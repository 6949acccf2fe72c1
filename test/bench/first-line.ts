import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../src/local/client.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import { startAgent } from "../support/local/agent.ts";
import type { BareRepository } from "../support/local/git-host/bare-repository.ts";
import { TestGitHost } from "../support/local/git-host/git-host.ts";
import { connectRepository, type GitRepository, makeRepository } from "../support/local/git-repository.ts";
import { serveBundled } from "../support/served-worker.ts";
import { setup as bundleAgent } from "../support/set-up/agent.ts";
import { type Storage, withStorageIn } from "../support/storage-in.ts";
import { ms, quantile } from "./support/statistics.ts";

const BUILDS = 50;
const TRACER = join(import.meta.dirname, "support/agent-trace.ts");
/** Number of builds. The bench shows the last one: the first ones load data that the later ones have. */
const TRACED = 10;
const REST_MS = 300;
export const FILE = "steps:\n  - run: echo first-line-$((6 * 7))\n";

/** Milliseconds until the service has answered, and until a follower gets the step's first log line and the end. */
export interface Times {
  answered: number;
  line: number;
  end: number;
}

/** Creates a build and follows its log. @param make Begins the build and returns its id. */
export const firstLineOf = async ({ url, token }: Client, make: () => Promise<string>): Promise<Times> => {
  const begun = performance.now();
  const headers = { Authorization: `Bearer ${token}`, Accept: "text/event-stream" };
  const id = await make();
  const answered = performance.now() - begun;
  const log = await fetch(`${url}/build/${id}/log`, { headers });
  let line = Number.NaN;
  for await (const text of log.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    if (Number.isNaN(line) && text.includes("first-line-42")) line = performance.now() - begun;
  }
  return { answered, line, end: performance.now() - begun };
};

export const prepare = async (client: Client, repository: Repository): Promise<Pipeline> =>
  client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });

const triggerOf =
  (client: Client, { id: pipelineId }: Pipeline) =>
  async (): Promise<string> =>
    (await client.call<Build>("POST", "/build", { pipelineId, branch: "main" })).id;

/** Connects a host whose pushes the client's organization builds. */
const connectHost = async (client: Client, folder: string) => {
  const host = await TestGitHost.start("github", folder);
  const bare = host.addRepository("acme/pushed");
  const git = makeRepository(folder, { ".millrace.yml": FILE });
  await host.push(git, bare, "main");
  const wanted = { kind: "github", name: "GitHub", webUrl: host.url, token: host.secrets.token };
  const connection = await client.call<{ id: string }>("POST", "/connection", wanted);
  const linked = { hostRepoId: bare.id, defaultBranch: "main" };
  const repository = await client.call<Repository>("POST", `/connection/${connection.id}/repository`, linked);
  const credential = { kind: "token", username: "builder", value: host.secrets.gitPassword };
  await client.call("PUT", `/repository/${repository.id}/credential`, credential);
  await prepare(client, repository);
  await host.settled();
  return { host, bare, git };
};

/** Commits, then begins the push. @returns the build's id as soon as the service has answered the delivery */
const pushed = (host: TestGitHost, bare: BareRepository, git: GitRepository) => async (): Promise<string> => {
  await host.push(git, bare, "main");
  const { builds } = JSON.parse(host.deliveries.at(-1)?.answer ?? "{}") as { builds: string[] };
  return builds[0] ?? "";
};

/** Runs builds one after the other, with the real agent and real git: from triggers, and from pushes to a host. */
const measure = async (storage: Storage): Promise<{ trigger: Times[]; push: Times[] }> => {
  // The git hosts are on loopback.
  const vars = { CLONE_PROTOCOLS: "https,ssh,http,file" };
  const service = await withStorageIn(storage, () => serveBundled({ vars }));
  const client = await service.newOrganization("bench");
  const source = makeRepository(service.folder, { ".millrace.yml": FILE });
  const pipeline = await prepare(client, await connectRepository(client, source));
  const { host, bare, git } = await connectHost(client, mkdtempSync(join(tmpdir(), "millrace-bench-")));
  const agent = await startAgent(client, service.folder, "bench");
  const trigger = triggerOf(client, pipeline);
  const times: { trigger: Times[]; push: Times[] } = { trigger: [], push: [] };
  for (let n = 0; n < BUILDS; n++) {
    times.trigger.push(await firstLineOf(client, trigger));
    git.git("commit", "--quiet", "--allow-empty", "--message", `commit ${n}`);
    times.push.push(await firstLineOf(client, pushed(host, bare, git)));
  }
  await agent.stop();
  await host.close();
  await service.stop();
  return times;
};

/** Prints an idle agent's actions for one build, in milliseconds after the trigger. */
const printTimeline = async (): Promise<void> => {
  const service = await withStorageIn("memory", () => serveBundled());
  const client = await service.newOrganization("bench");
  const source = makeRepository(service.folder, { ".millrace.yml": FILE });
  const pipeline = await prepare(client, await connectRepository(client, source));
  const trace = join(service.folder, "trace");
  process.env.TRACE_FILE = trace;
  const agent = await startAgent(client, service.folder, "bench", { preload: [`--import=${TRACER}`] });
  let begun = 0;
  let line = 0;
  for (let n = 0; n < TRACED; n++) {
    source.git("commit", "--quiet", "--allow-empty", "--message", `commit ${n}`);
    await delay(REST_MS);
    writeFileSync(trace, "");
    begun = performance.timeOrigin + performance.now();
    line = (await firstLineOf(client, triggerOf(client, pipeline))).line;
  }
  await delay(REST_MS);
  const notes = readFileSync(trace, "utf8")
    .trim()
    .split("\n")
    .map((text) => ({ at: Number.parseFloat(text) - begun, what: text.replace(/^\S+ /, "") }));
  const events = [...notes, { at: line, what: "follower gets the first line" }].sort((one, other) => one.at - other.at);
  console.log("  timeline of one build, from its trigger:");
  for (const { at, what } of events) console.log(`    ${ms(at).padStart(9)}  ${what}`);
  await agent.stop();
  await service.stop();
};

const figures = (values: number[]) => `p50 ${ms(quantile(values, 0.5))}  p99 ${ms(quantile(values, 0.99))}`;

const print = (from: string, times: Times[]): void => {
  console.log(`    ${from}: ${figures(times.map(({ line }) => line))}`);
  console.log(`      from its answer: ${figures(times.map(({ line, answered }) => line - answered))}`);
  console.log(`      to the log's end: ${figures(times.map(({ end }) => end))}`);
};

/** Measures from the trigger, and from the push, to the step's first line at a log follower. */
export const benchFirstLine = async (): Promise<void> => {
  const removeProgram = await bundleAgent();
  console.log(
    `to the first step line, ${BUILDS} builds each, one real agent (Buildbot 3.7.0: p50 111 ms, p99 206 ms):`,
  );
  for (const storage of ["memory", "disk"] as const) {
    const { trigger, push } = await measure(storage);
    console.log(`  state ${storage === "disk" ? "on disk" : "in memory"}`);
    print("from the trigger", trigger);
    print("from git push, fetched over HTTP with a password", push);
  }
  await printTimeline();
  removeProgram();
};

if (import.meta.main) await benchFirstLine();
