import { readRange } from "../../archive/bytes.ts";
import { reaching } from "../core/outage.ts";
import type { Refusal } from "../core/refusal.ts";

/** Bytes that can be read in parts. */
export interface Readable {
  size: number;
  /** From `start` to before `end`. @throws Refusal gone */
  read(start: number, end: number): Promise<ReadableStream<Uint8Array>>;
}

/** Bytes of an object of the archive, from `offset` on. */
export const readable = (archive: R2Bucket, key: string, size: number, gone: () => Refusal, offset = 0): Readable => ({
  size,
  async read(start, end) {
    const body = await reaching(readRange(archive, key, { start: offset + start, end: offset + end }));
    if (!body) throw gone();
    return body;
  },
});
