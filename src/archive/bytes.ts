/*
 * Bytes of artifacts and cache entries. Each artifact and each entry is one object, which an agent uploads whole or in
 * parts.
 */

/** The destination of an upload, with the upload's id if it has several parts. */
interface Upload {
  key: string;
  uploadId?: string | undefined;
}

/** One part. The archive compares the SHA-256 of a single part. */
interface UploadPart {
  number: number;
  body: ReadableStream<Uint8Array> | Uint8Array;
  sha256: string;
}

const CONTENT = { httpMetadata: { contentType: "application/octet-stream" } };

/** A condition that makes R2 write an object only once: R2 ignores a second write under the same key. */
export const ABSENT = { etagDoesNotMatch: "*" };

/** Begins an upload in several parts. @returns its id */
export const beginParts = async (archive: R2Bucket, key: string): Promise<string> =>
  (await archive.createMultipartUpload(key, CONTENT)).uploadId;

export const abortParts = (archive: R2Bucket, key: string, uploadId: string): Promise<void> =>
  archive.resumeMultipartUpload(key, uploadId).abort();

/**
 * Stores one part, which replaces an earlier part with the same number. If this is the upload's only part, stores it
 * once.
 * @returns its ETag; null where the key already holds other bytes
 * @throws where the upload is over, or R2 computes another SHA-256
 */
export const putPart = async (
  archive: R2Bucket,
  { key, uploadId }: Upload,
  { number, body, sha256 }: UploadPart,
): Promise<string | null> => {
  if (uploadId) return (await archive.resumeMultipartUpload(key, uploadId).uploadPart(number, body)).etag;
  const object = await archive.put(key, body, { ...CONTENT, sha256, onlyIf: ABSENT });
  if (object) return object.etag;
  const before = await archive.head(key);
  return before?.checksums.toJSON().sha256 === sha256 ? before.etag : null;
};

/** Joins the parts to one object. @throws where a part is missing or has another ETag, or the upload is over */
export const joinParts = async (archive: R2Bucket, key: string, uploadId: string, etags: string[]): Promise<void> => {
  const parts = etags.map((etag, index) => ({ partNumber: index + 1, etag }));
  await archive.resumeMultipartUpload(key, uploadId).complete(parts);
};

/** Finds the object under a key; null if the object does not exist. An object with several parts has no SHA-256. */
export const findBytes = async (archive: R2Bucket, key: string) => {
  const object = await archive.head(key);
  return object && { size: object.size, etag: object.etag, sha256: object.checksums.toJSON().sha256 ?? null };
};

/** Reads the bytes from `start` up to `end`, exclusive; null where the object no longer exists. */
export const readRange = async (
  archive: R2Bucket,
  key: string,
  { start, end }: { start: number; end: number },
): Promise<ReadableStream<Uint8Array> | null> => {
  if (start >= end) return new Blob([]).stream();
  return (await archive.get(key, { range: { offset: start, length: end - start } }))?.body ?? null;
};
