import { type ArtifactOwner, readFileList } from "../../archive/artifacts.ts";
import { readRange } from "../../archive/bytes.ts";
import type { Artifact, ArtifactFile, StoredArtifact } from "../../protocol/artifact.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { reaching } from "../core/outage.ts";
import { Refusal } from "../core/refusal.ts";

/** An artifact with the job that created it. For an adopted result, that is the job of the earlier build. */
export interface FoundArtifact {
  owner: ArtifactOwner;
  artifact: StoredArtifact;
}

export const toOwner = (orgId: string, jobId: string, { day, fence, id }: StoredArtifact): ArtifactOwner => ({
  day,
  orgId,
  jobId,
  fence,
  id,
});

/** Returns the first moment when retention may delete an artifact that is kept until the end of a day. */
const endOfDay = (day: string): string => new Date(Date.parse(day) + DAY_MS).toISOString();

/** Returns the artifact as the API shows it, under the requested job. */
export const toArtifact = (jobId: string, { id, name, as, bytes, files, day, at }: StoredArtifact): Artifact => ({
  id,
  jobId,
  name,
  as,
  bytes,
  files,
  createdAt: new Date(at).toISOString(),
  expiresAt: endOfDay(day),
});

export const artifactGone = () => new Refusal("gone", "The artifact was deleted or has expired.");

/** Reads an artifact's file list. @throws Refusal gone if retention or a person deleted the files */
export const readFiles = async (archive: R2Bucket, owner: ArtifactOwner): Promise<ArtifactFile[]> => {
  const list = await reaching(readFileList(archive, owner));
  if (!list) throw artifactGone();
  return list;
};

/** Bytes that a caller can read in parts. */
export interface Readable {
  size: number;
  /** Reads from `start` to before `end`. @throws Refusal gone */
  read(start: number, end: number): Promise<ReadableStream<Uint8Array>>;
}

/** Returns the bytes of an object in the archive, from `offset` on. */
export const readable = (archive: R2Bucket, key: string, size: number, gone: () => Refusal, offset = 0): Readable => ({
  size,
  async read(start, end) {
    const body = await reaching(readRange(archive, key, { start: offset + start, end: offset + end }));
    if (!body) throw gone();
    return body;
  },
});
