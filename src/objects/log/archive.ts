import { logKey } from "../../archive/keys.ts";
import { putLog, readLogText } from "../../archive/logs.ts";
import { shownSegment } from "./followers.ts";
import type { BuildLogStore, Ended, LogSegment } from "./store.ts";

/** Bytes of one chunk of a read. */
const READ_CHUNK = 256 * 1024;

/** The text of a log from both places: from the object until the log has moved, then from the archive. */
export class LogText {
  readonly #store: BuildLogStore;
  readonly #archive: () => R2Bucket;
  /** Where the log is now, for those who began to read it before it moved. */
  #moved: { ended: Ended; shown: LogSegment[] } | null = null;

  constructor(store: BuildLogStore, archive: () => R2Bucket) {
    this.#store = store;
    this.#archive = archive;
  }

  /** The bytes of a segment as a stream that goes on when the log moves meanwhile. */
  stream(fence: number, start: number, end: number): ReadableStream<Uint8Array> {
    let at = start;
    return new ReadableStream({
      type: "bytes",
      pull: async (controller) => {
        if (at >= end) return controller.close();
        const until = Math.min(end, at + READ_CHUNK);
        const stored = this.#store.read(fence, at, until);
        const chunk = stored.length > 0 ? stored : await this.#readMoved(fence, at, until);
        at += chunk.length;
        controller.enqueue(chunk);
        if (at >= end) controller.close();
      },
    });
  }

  async #readMoved(fence: number, start: number, end: number): Promise<Uint8Array> {
    const segment = this.#moved?.shown.find((shown) => shown.fence === fence);
    if (!this.#moved || !segment) throw new Error("The log is gone");
    const { day, orgId, jobId } = this.#moved.ended;
    const key = logKey(day, orgId, jobId, segment.attempt);
    return new Uint8Array(await new Response(await readLogText(this.#archive(), key, start, end)).arrayBuffer());
  }

  /** Copies what each attempt shows to the archive. @throws where the archive does not confirm each byte */
  async copy(ended: Ended): Promise<void> {
    const segments = this.#store.segments();
    const attempts = new Set(segments.map(({ attempt }) => attempt));
    const shown = [...attempts].flatMap((attempt) => shownSegment(segments, attempt) ?? []);
    for (const { fence, attempt, size } of shown) {
      const text = this.stream(fence, 0, size);
      await putLog(this.#archive(), ended, { attempt, size, text, times: this.#store.times(fence) });
    }
    this.#moved = { ended, shown };
  }
}
