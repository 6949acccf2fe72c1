import { type ArtifactOwner, readContent } from "../archive/artifacts.ts";
import { type PlacedFile, placed } from "../domain/artifact/file-list.ts";
import { filesOf, findArtifact } from "./artifacts.ts";
import type { Context } from "./core/context.ts";
import { reaching } from "./core/outage.ts";
import { notFound, Refusal } from "./core/refusal.ts";

/** Bytes that can be read in parts, and what they are. */
export interface Readable {
  size: number;
  /** The last part of its path. */
  name: string;
  sha256: string;
  /** From `start` to before `end`. @throws Refusal gone */
  read(start: number, end: number): Promise<ReadableStream<Uint8Array>>;
}

export const readableFile = (archive: R2Bucket, owner: ArtifactOwner, file: PlacedFile): Readable => ({
  size: file.size,
  name: file.path.slice(file.path.lastIndexOf("/") + 1),
  sha256: file.sha256,
  async read(start, end) {
    const range = { start: file.start + start, end: file.start + end };
    const body = await reaching(readContent(archive, owner, range));
    if (!body) throw new Refusal("gone", "This artifact was deleted, or the days for which it was kept are over.");
    return body;
  },
});

/** One file of an artifact. @throws Refusal not-found */
export const openFile = async (context: Context, jobId: string, name: string, path: string): Promise<Readable> => {
  const found = await findArtifact(context, jobId, name);
  const file = placed(await filesOf(context, found)).find((one) => one.path === path);
  if (!file) throw notFound();
  return readableFile(context.archive, found.owner, file);
};
