import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import { startAgent } from "../support/local/agent.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { serveBundled } from "../support/served-worker.ts";
import { setup as bundleAgent } from "../support/set-up/agent.ts";
import { serveFloor } from "./support/floor.ts";
import { median } from "./support/statistics.ts";

const PARTS = 8;
const BYTES = PARTS * LIMITS.artifactPartBytes;
const ROUNDS = 3;

/** Jobs that differ only in the artifacts that they leave and fetch. Each notes when its steps began and ended. */
const FILE = `jobs:
  none:
    checkout: false
    steps: [{ run: 'date +%s%3N > "$HERE/none-begin"; head -c ${BYTES} /dev/urandom > big; date +%s%3N > "$HERE/none-end"' }]
  keep:
    needs: [none]
    checkout: false
    steps: [{ run: 'head -c ${BYTES} /dev/urandom > big; date +%s%3N > "$HERE/keep-end"' }]
    artifacts: [{ name: big, path: big, keep-days: 1 }]
  fetch:
    needs: [keep]
    checkout: false
    downloads: [{ from: keep, artifact: big, to: in }]
    steps: [{ run: 'date +%s%3N > "$HERE/fetch-begin"' }]
`;

const run = promisify(execFile);
const curl = (...args: string[]) => run("curl", ["--silent", "--fail", ...args], { maxBuffer: 2 ** 20 });

/** Measures the agent's milliseconds for the artifact, beyond those of a job that leaves or fetches nothing. */
const measureService = async (): Promise<{ send: number; fetch: number }[]> => {
  const removeProgram = await bundleAgent();
  const service = await serveBundled();
  const here = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  const client = await service.newOrganization("bench");
  const agent = await startAgent(client, service.folder, "one");
  const repository = await connectRepository(client, makeRepository(service.folder, { ".millrace.yml": FILE }));
  const owner = { scope: "repository", repoId: repository.id, isSecret: false };
  await client.call("POST", "/secrets/variables", { key: "HERE", value: here, ...owner });
  const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
  const rounds: { send: number; fetch: number }[] = [];
  const noted = (name: string) => Number(readFileSync(join(here, name), "utf8"));
  for (let round = 0; round <= ROUNDS; round++) {
    const { id } = await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" });
    const { status, jobs } = await waitForEnd(client, id);
    if (status !== "succeeded") throw new Error(`The build is ${status}`);
    const [none, keep, fetch] = ["none", "keep", "fetch"].map((key) => jobs?.find((job) => job.key === key));
    const ended = (job: typeof none) => Date.parse(job?.finishedAt ?? "");
    const began = (job: typeof none) => Date.parse(job?.startedAt ?? "");
    rounds.push({
      send: ended(keep) - noted("keep-end") - (ended(none) - noted("none-end")),
      fetch: noted("fetch-begin") - began(fetch) - (noted("none-begin") - began(none)),
    });
  }
  await agent.stop();
  await service.stop();
  rmSync(here, { recursive: true, force: true });
  removeProgram();
  return rounds.slice(1);
};

/** Measures curl's milliseconds for the same number of bytes to a bare Worker, two parts at a time, like the agent. */
const measureFloor = async (): Promise<{ send: number; fetch: number }[]> => {
  const floor = await serveFloor("artifact-floor-worker.ts");
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  const part = join(folder, "part");
  const rounds: { send: number; fetch: number }[] = [];
  writeFileSync(part, crypto.getRandomValues(new Uint8Array(2 ** 16)));
  for (let size = 2 ** 16; size < LIMITS.artifactPartBytes; size *= 2)
    writeFileSync(part, Buffer.concat([readFileSync(part), readFileSync(part)]));
  for (let round = 0; round <= ROUNDS; round++) {
    const from = performance.now();
    const upload = (await curl(`${floor.url}/open`)).stdout;
    const done: object[] = [];
    const waiting = Array.from({ length: PARTS }, (_, index) => index + 1);
    const send = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        done[next - 1] = JSON.parse(
          (await curl("--upload-file", part, `${floor.url}/part?upload=${upload}&part=${next}`)).stdout,
        );
    };
    await Promise.all([send(), send()]);
    await curl("--data-binary", JSON.stringify(done), `${floor.url}/done?upload=${upload}`);
    const sent = performance.now();
    await curl("--output", join(folder, "big"), `${floor.url}/big`);
    rounds.push({ send: sent - from, fetch: performance.now() - sent });
  }
  await floor.stop();
  rmSync(folder, { recursive: true, force: true });
  return rounds.slice(1);
};

const floor = await measureFloor();
const service = await measureService();
console.log(`an artifact of ${BYTES / 2 ** 20} MiB, medians of ${ROUNDS} rounds, state in memory:`);
for (const what of ["send", "fetch"] as const) {
  const [own, bare] = [service, floor].map((rounds) => median(rounds.map((one) => one[what])));
  const rate = (ms = 0) => `${(BYTES / 2 ** 20 / (ms / 1000)).toFixed(0)} MiB/s`;
  const ratio = ((bare ?? 0) / (own ?? 1)).toFixed(2);
  console.log(`  ${what.padEnd(5)} ${rate(own).padStart(10)}, curl ${rate(bare)}: ${ratio} of it (goal 0.70)`);
}
