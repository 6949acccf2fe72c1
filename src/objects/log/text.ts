import { logKey } from "../../archive/keys.ts";
import { putLog, readLogText } from "../../archive/logs.ts";
import { findFailedLine, type PartOfLog } from "../../domain/failure/error-lines.ts";
import { KIB } from "../../protocol/units.ts";
import { isComplete, shownSegment } from "./followers.ts";
import type { BuildLogStore, PieceTime } from "./store.ts";
import { refuse, success } from "./turns.ts";
import type { Ended, LogSegment } from "./values.ts";

/** Bytes of one chunk of a read. */
const READ_CHUNK = 256 * KIB;

/** Bytes at the end of a part in which the service searches for the line with the failure's reason. */
const FAILURE_BYTES = 64 * KIB;

export interface LogInfo {
  attempts: { attempt: number; size: number; isComplete: boolean }[];
  isComplete: boolean;
}

/** Bytes from `start` to before `end` of an attempt, or of the latest one. */
export interface ReadRange {
  attempt?: number;
  start?: number;
  end?: number;
  /** The number of bytes at the end. It replaces `start` and `end`. */
  suffix?: number;
}

/** The text of a log. Reads it from the object until the log has moved, and then from the archive. */
export class LogText {
  readonly #store: BuildLogStore;
  readonly #archive: () => R2Bucket;
  /** The log's new place. Readers that began before the move use it. */
  #archived: { ended: Ended; segments: LogSegment[] } | null = null;

  constructor(store: BuildLogStore, archive: () => R2Bucket) {
    this.#store = store;
    this.#archive = archive;
  }

  /** Returns the size and state of each attempt, the latest last. */
  info(): LogInfo {
    const state = this.#store.state();
    const { segments } = state;
    const attempts = [...new Set(segments.map(({ attempt }) => attempt))].map((attempt) => {
      const segment = shownSegment(segments, attempt);
      return { attempt, size: segment?.size ?? 0, isComplete: isComplete(segment, state) };
    });
    return { attempts, isComplete: isComplete(segments.at(-1), state) };
  }

  /** Returns when the log stored the pieces of this attempt, or of the latest one; null if there is no such log. */
  times(attempt: number | null): PieceTime[] | null {
    const segment = shownSegment(this.#store.segments(), attempt);
    return segment ? this.#store.times(segment.fence) : null;
  }

  /** Reads the stored bytes of this range. Attempt 0 means that the object has no log. */
  read(range: ReadRange) {
    const state = this.#store.state();
    const segment = shownSegment(state.segments, range.attempt ?? null);
    if (!segment && range.attempt !== undefined) return refuse("not-found", "There is no such attempt.");
    const size = segment?.size ?? 0;
    const end = Math.min(range.end ?? size, size);
    const start = range.suffix === undefined ? Math.min(range.start ?? 0, end) : Math.max(0, size - range.suffix);
    const complete = isComplete(segment, state);
    const body = this.stream(segment?.fence ?? 0, start, end);
    return success({ attempt: segment?.attempt ?? 0, size, isComplete: complete, start, end, body });
  }

  /**
   * Finds the line in this part of the log that says why a job failed. Returns null if there is no such line, or if
   * another lease writes.
   */
  failedLine(fence: number, { start, end }: PartOfLog): string | null {
    const current = this.#store.current();
    if (current?.fence !== fence) return null;
    const partEnd = Math.min(end ?? current.size, current.size);
    const bytes = this.#store.read(fence, Math.max(start, partEnd - FAILURE_BYTES), partEnd);
    return findFailedLine(new TextDecoder().decode(bytes));
  }

  /** Returns a segment's bytes as a stream that continues if the log moves meanwhile. */
  stream(fence: number, start: number, end: number): ReadableStream<Uint8Array> {
    let at = start;
    return new ReadableStream({
      type: "bytes",
      pull: async (controller) => {
        if (at >= end) return controller.close();
        const until = Math.min(end, at + READ_CHUNK);
        const ownBytes = this.#store.read(fence, at, until);
        const chunk = ownBytes.length > 0 ? ownBytes : await this.#readMoved(fence, at, until);
        at += chunk.length;
        controller.enqueue(chunk);
        if (at >= end) controller.close();
      },
    });
  }

  async #readMoved(fence: number, start: number, end: number): Promise<Uint8Array> {
    const segment = this.#archived?.segments.find((one) => one.fence === fence);
    if (!this.#archived || !segment) throw new Error("The log is gone");
    const { day, orgId, jobId } = this.#archived.ended;
    const key = logKey(day, orgId, jobId, segment.attempt);
    return new Uint8Array(await new Response(await readLogText(this.#archive(), key, start, end)).arrayBuffer());
  }

  /** Copies the shown segment of each attempt to the archive. @throws if the archive does not confirm each byte */
  async copy(ended: Ended): Promise<void> {
    const segments = this.#store.segments();
    const attempts = new Set(segments.map(({ attempt }) => attempt));
    const shownSegments = [...attempts].flatMap((attempt) => shownSegment(segments, attempt) ?? []);
    for (const { fence, attempt, size } of shownSegments) {
      const text = this.stream(fence, 0, size);
      await putLog(this.#archive(), ended, { attempt, size, text, times: this.#store.times(fence) });
    }
    this.#archived = { ended, segments: shownSegments };
  }
}
