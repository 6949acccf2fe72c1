import { type HeapUsage, Inspector } from "./inspector.ts";

const INTERVAL_MS = 1000;

/** The most bytes that the Worker's isolate held at a time, heap and buffers, sampled each second. */
export class WorkerMemory {
  readonly #port: number;
  readonly #timer: NodeJS.Timeout;
  #inspector: Inspector | null = null;
  #isAsking = false;
  #most = 0;
  asked = 0;

  constructor(inspectorPort: number) {
    this.#port = inspectorPort;
    this.#timer = setInterval(() => void this.#ask(), INTERVAL_MS);
  }

  /** @returns the maximum since the last call */
  take(): number {
    const most = this.#most;
    this.#most = 0;
    return most;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#inspector?.close();
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      this.#inspector ??= await Inspector.open(this.#port);
      const lost = new Promise<never>((_, reject) => setTimeout(reject, 5 * INTERVAL_MS).unref());
      const { totalSize, backingStorageSize = 0 } = await Promise.race([
        this.#inspector.call<HeapUsage>("Runtime.getHeapUsage"),
        lost,
      ]);
      this.#most = Math.max(this.#most, totalSize + backingStorageSize);
      this.asked += 1;
    } catch {
      // The service is restarting.
      this.#inspector?.close();
      this.#inspector = null;
    } finally {
      this.#isAsking = false;
    }
  }
}
