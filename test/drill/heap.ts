import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/local/free-port.ts";
import { serveBundled } from "../support/served-worker.ts";
import { type HeapUsage, Inspector } from "./inspector.ts";

const AGENTS = 5_000;
const GOAL_MB = 64;
/** Number of builds with 256 jobs: the most that the queue accepts. */
const BUILDS_OF_JOBS = 39;
const MOST_JOB_BYTES = 2_048;
const ENTRY = join(import.meta.dirname, "heap-worker.ts");
/** The heap's limit is a V8 flag, which miniflare passes to the runtime. */
const FLAGS = "MINIFLARE_WORKERD_V8_FLAGS";

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const fill = async (stateFolder: string, path: string): Promise<void> => {
  const service = await serveBundled({ entry: ENTRY, stateFolder });
  const { ok, status } = await fetch(`${service.url}${path}`, { method: "POST" });
  if (!ok) throw new Error(`Could not fill the pool: ${status}`);
  await service.stop();
};

interface Woken {
  /** Maximum bytes that the heap took. */
  most: number;
  /** Bytes that the pool keeps for each job in a build with several. */
  perJob: number;
}

/** Wakes the pool in a new process and queries its inspector. */
const wake = async (stateFolder: string): Promise<Woken> => {
  const inspectorPort = await freePort();
  const service = await serveBundled({ entry: ENTRY, stateFolder, inspectorPort });
  try {
    const inspector = await Inspector.open(inspectorPort);
    const before = await inspector.call<HeapUsage>("Runtime.getHeapUsage");
    const begun = performance.now();
    await fetch(`${service.url}/wake`);
    const wakeMs = Math.round(performance.now() - begun);
    const awake = await inspector.call<HeapUsage>("Runtime.getHeapUsage");
    await inspector.call("HeapProfiler.collectGarbage");
    const kept = await inspector.call<HeapUsage>("Runtime.getHeapUsage");
    inspector.close();
    const loaded = (await (await fetch(`${service.url}/load`)).json()) as Record<string, number>;
    const { agents, builds, jobs } = loaded;
    console.log(`${agents} agents with 50 labels, ${builds} builds and ${jobs} jobs: awake after ${wakeMs} ms`);
    console.log(`  heap before: ${megabytes(before.usedSize)} in use`);
    console.log(
      `  after wake:  ${megabytes(awake.usedSize)} in use, ${megabytes(awake.totalSize)} taken from the system`,
    );
    console.log(`  after a garbage collection: ${megabytes(kept.usedSize)} in use`);
    return { most: awake.totalSize, perJob: (kept.usedSize - before.usedSize) / (jobs || 1) };
  } finally {
    await service.stop();
  }
};

/** Fills a pool to its limits and wakes it, first without a heap limit, then with the goal as its limit. */
export const drill = async (): Promise<boolean> => {
  const [stateFolder, jobsFolder] = [0, 1].map(() => mkdtempSync(join(tmpdir(), "millrace-heap-"))) as [string, string];
  try {
    await fill(stateFolder, `/fill?agents=${AGENTS}`);
    await wake(stateFolder);
    await fill(jobsFolder, `/plan?builds=${BUILDS_OF_JOBS}`);
    const { perJob } = await wake(jobsFolder);
    console.log(`  ${Math.round(perJob)} bytes for each queued job (at most ${MOST_JOB_BYTES})`);
    process.env[FLAGS] = `--max-old-space-size=${GOAL_MB}`;
    const { most } = await wake(stateFolder);
    console.log(`peak with a limit of ${GOAL_MB} MB: ${megabytes(most)}`);
    return most <= GOAL_MB * 1024 * 1024 && perJob <= MOST_JOB_BYTES;
  } finally {
    delete process.env[FLAGS];
    for (const folder of [stateFolder, jobsFolder]) rmSync(folder, { recursive: true, force: true });
  }
};
