import { type ArtifactOwner, artifactKey } from "../archive/artifacts.ts";
import { type PlacedFile, placed } from "../domain/artifact/file-list.ts";
import { artifactGone, fileListOf } from "./artifact-records.ts";
import { findArtifact } from "./artifacts.ts";
import type { Context } from "./core/context.ts";
import { notFound } from "./core/refusal.ts";
import { type Readable, readable } from "./readable.ts";

/** A file of an artifact, and what it is. */
export interface ReadableFile extends Readable {
  /** The last part of its path. */
  name: string;
  sha256: string;
}

export const readableFile = (archive: R2Bucket, owner: ArtifactOwner, file: PlacedFile): ReadableFile => ({
  ...readable(archive, artifactKey(owner), file.size, artifactGone, file.start),
  name: file.path.slice(file.path.lastIndexOf("/") + 1),
  sha256: file.sha256,
});

/** One file of an artifact. @throws Refusal not-found */
export const openFile = async (context: Context, jobId: string, name: string, path: string): Promise<ReadableFile> => {
  const { owner } = await findArtifact(context, jobId, name);
  const file = placed(await fileListOf(context.archive, owner)).find((one) => one.path === path);
  if (!file) throw notFound();
  return readableFile(context.archive, owner, file);
};
