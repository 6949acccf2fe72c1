import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { freePort } from "../support/local/service.ts";
import { serveBundled } from "../support/served-worker.ts";

const AGENTS = 5_000;
const GOAL_MB = 64;
const ENTRY = join(import.meta.dirname, "heap-worker.ts");
/** The limit of the heap is a flag of V8, which miniflare hands to the runtime. */
const FLAGS = "MINIFLARE_WORKERD_V8_FLAGS";

interface HeapUsage {
  usedSize: number;
  totalSize: number;
}

/** The inspector of the isolate that runs the Worker. */
class Inspector {
  readonly #socket: WebSocket;
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async open(port: number): Promise<Inspector> {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as { webSocketDebuggerUrl: string }[];
    const own = targets.find(({ webSocketDebuggerUrl }) => webSocketDebuggerUrl.endsWith("core:user:"));
    if (!own) throw new Error("the inspector does not know the Worker");
    const socket = new WebSocket(own.webSocketDebuggerUrl);
    await once(socket, "open");
    return new Inspector(socket);
  }

  async call<T>(method: string): Promise<T> {
    this.#calls += 1;
    const id = this.#calls;
    this.#socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [data] = (await once(this.#socket, "message")) as [Buffer];
      const message = JSON.parse(String(data)) as { id?: number; result: T };
      if (message.id === id) return message.result;
    }
  }

  close(): void {
    this.#socket.terminate();
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const fill = async (stateFolder: string): Promise<void> => {
  const service = await serveBundled({ entry: ENTRY, stateFolder });
  await fetch(`${service.url}/fill?agents=${AGENTS}`, { method: "POST" });
  await service.stop();
};

/** Wakes the pool in a new process and asks its inspector. @returns bytes of heap in use at the most */
const wake = async (stateFolder: string): Promise<number> => {
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
    console.log(`${loaded.agents} agents with 50 labels and ${loaded.builds} builds: awake after ${wakeMs} ms`);
    console.log(`  heap before: ${megabytes(before.usedSize)} in use`);
    console.log(
      `  after wake:  ${megabytes(awake.usedSize)} in use, ${megabytes(awake.totalSize)} taken from the system`,
    );
    console.log(`  after a garbage collection: ${megabytes(kept.usedSize)} in use`);
    return awake.totalSize;
  } finally {
    await service.stop();
  }
};

/** Fills a pool to its limits and wakes it, first freely, then with the goal as the limit of its heap. */
export const drill = async (): Promise<boolean> => {
  const stateFolder = mkdtempSync(join(tmpdir(), "millrace-heap-"));
  try {
    await fill(stateFolder);
    await wake(stateFolder);
    process.env[FLAGS] = `--max-old-space-size=${GOAL_MB}`;
    const most = await wake(stateFolder);
    console.log(`with a limit of ${GOAL_MB} MB: ${megabytes(most)} at the most`);
    return most <= GOAL_MB * 1024 * 1024;
  } finally {
    delete process.env[FLAGS];
    rmSync(stateFolder, { recursive: true, force: true });
  }
};
