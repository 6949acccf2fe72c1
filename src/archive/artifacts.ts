import type { ArtifactFile } from "../protocol/artifact.ts";
import { UNTIL_DAY } from "./keys.ts";

/** Where an artifact is, and what it has. */
export interface ArtifactOwner {
  /** After this day (UTC) retention deletes it. */
  day: string;
  orgId: string;
  jobId: string;
  /** Of the lease under which it was sent. */
  fence: number;
  id: string;
}

/** The folder of all that a job left and keeps until this day. */
const artifactPrefix = ({ day, orgId, jobId }: Pick<ArtifactOwner, "day" | "orgId" | "jobId">): string =>
  `${UNTIL_DAY}/${day}/${orgId}/${jobId}/`;

/** The object with the bytes of all its files, one after the other. */
const artifactKey = (owner: ArtifactOwner): string => `${artifactPrefix(owner)}${owner.fence}/${owner.id}`;

const LIST = ".list";
const listKey = (owner: ArtifactOwner): string => artifactKey(owner) + LIST;

/** Objects are made once: a second write under a key that is taken is not done. */
const ABSENT = { etagDoesNotMatch: "*" };

const CONTENT = { httpMetadata: { contentType: "application/octet-stream" } };

/**
 * Stores the bytes of an artifact of one part. @returns its etag; null where other bytes are there already
 * @throws where R2 finds another SHA-256
 */
export const putContent = async (
  archive: R2Bucket,
  owner: ArtifactOwner,
  body: ReadableStream<Uint8Array> | Uint8Array,
  sha256: string,
): Promise<string | null> => {
  const key = artifactKey(owner);
  const stored = await archive.put(key, body, { ...CONTENT, sha256, onlyIf: ABSENT });
  if (stored) return stored.etag;
  const before = await archive.head(key);
  return before?.checksums.toJSON().sha256 === sha256 ? before.etag : null;
};

/** Begins an upload in several parts. @returns its id */
export const beginUpload = async (archive: R2Bucket, owner: ArtifactOwner): Promise<string> =>
  (await archive.createMultipartUpload(artifactKey(owner), CONTENT)).uploadId;

export const abortUpload = async (archive: R2Bucket, owner: ArtifactOwner, uploadId: string): Promise<void> =>
  archive.resumeMultipartUpload(artifactKey(owner), uploadId).abort();

/** Stores one part, instead of the one with this number. @throws where the upload is over */
export const putPart = async (
  archive: R2Bucket,
  owner: ArtifactOwner,
  part: { uploadId: string; number: number; body: ReadableStream<Uint8Array> },
): Promise<string> => {
  const upload = archive.resumeMultipartUpload(artifactKey(owner), part.uploadId);
  return (await upload.uploadPart(part.number, part.body)).etag;
};

/** What the archive has of the bytes; null where there is nothing. */
export interface StoredContent {
  size: number;
  etag: string;
  sha256: string | null;
}

export const findContent = async (archive: R2Bucket, owner: ArtifactOwner): Promise<StoredContent | null> => {
  const found = await archive.head(artifactKey(owner));
  return found && { size: found.size, etag: found.etag, sha256: found.checksums.toJSON().sha256 ?? null };
};

/** Makes one object of the parts. @throws where one is missing, has another etag, or the upload is over */
export const completeUpload = async (
  archive: R2Bucket,
  owner: ArtifactOwner,
  uploadId: string,
  etags: string[],
): Promise<void> => {
  const parts = etags.map((etag, index) => ({ partNumber: index + 1, etag }));
  await archive.resumeMultipartUpload(artifactKey(owner), uploadId).complete(parts);
};

const zipped = async (text: string): Promise<ArrayBuffer> =>
  new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();

/** Stores the list of the files, in the order of their bytes. @returns whether this list is there now */
export const putFileList = async (
  archive: R2Bucket,
  owner: ArtifactOwner,
  list: ArtifactFile[],
  sha256: string,
): Promise<boolean> => {
  const key = listKey(owner);
  const stored = await archive.put(key, await zipped(JSON.stringify(list)), {
    httpMetadata: { contentType: "application/json", contentEncoding: "gzip" },
    customMetadata: { sha256 },
    onlyIf: ABSENT,
  });
  return stored !== null || (await archive.head(key))?.customMetadata?.sha256 === sha256;
};

/** The files of an artifact; null where retention or a person deleted it. */
export const readFileList = async (archive: R2Bucket, owner: ArtifactOwner): Promise<ArtifactFile[] | null> => {
  const found = await archive.get(listKey(owner));
  if (!found) return null;
  const text = await new Response(found.body.pipeThrough(new DecompressionStream("gzip"))).text();
  return JSON.parse(text) as ArtifactFile[];
};

/** Bytes of an artifact; null where it is gone. */
export const readContent = async (
  archive: R2Bucket,
  owner: ArtifactOwner,
  range: { start: number; end: number },
): Promise<ReadableStream<Uint8Array> | null> => {
  const length = range.end - range.start;
  if (length === 0) return new Blob([]).stream();
  const found = await archive.get(artifactKey(owner), { range: { offset: range.start, length } });
  return found?.body ?? null;
};

/** Deletes one artifact. May be repeated. */
export const deleteArtifact = async (archive: R2Bucket, owner: ArtifactOwner): Promise<void> =>
  archive.delete([artifactKey(owner), listKey(owner)]);

/**
 * Deletes all that a job left and keeps until this day, whatever lease it came under. May be repeated.
 * @returns the bytes of the artifacts, without their lists
 */
export const deleteArtifacts = async (
  archive: R2Bucket,
  place: Pick<ArtifactOwner, "day" | "orgId" | "jobId">,
): Promise<number> => {
  let bytes = 0;
  for (;;) {
    const { objects, truncated } = await archive.list({ prefix: artifactPrefix(place) });
    if (objects.length > 0) await archive.delete(objects.map(({ key }) => key));
    for (const { key, size } of objects) if (!key.endsWith(LIST)) bytes += size;
    if (!truncated) return bytes;
  }
};
