/*
 * Bytes that agents send, of artifacts and of entries of the cache: one object each, sent whole or in several parts.
 */

/** Where bytes are sent to; with the id of the upload where they come in several parts. */
interface Upload {
  key: string;
  uploadId?: string | undefined;
}

/** One part. The archive compares the SHA-256 of an only one. */
interface UploadPart {
  number: number;
  body: ReadableStream<Uint8Array> | Uint8Array;
  sha256: string;
}

const CONTENT = { httpMetadata: { contentType: "application/octet-stream" } };

/** Objects are made once: a second write under a key that is taken is not done. */
export const ABSENT = { etagDoesNotMatch: "*" };

/** Begins an upload in several parts. @returns its id */
export const beginParts = async (archive: R2Bucket, key: string): Promise<string> =>
  (await archive.createMultipartUpload(key, CONTENT)).uploadId;

export const abortParts = (archive: R2Bucket, key: string, uploadId: string): Promise<void> =>
  archive.resumeMultipartUpload(key, uploadId).abort();

/**
 * Stores one of several parts, instead of the one with this number, or the only one, once.
 * @returns its ETag; null where other bytes are there already
 * @throws where the upload is over, or R2 finds another SHA-256
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

/** Makes one object of the parts. @throws where one is missing, has another ETag, or the upload is over */
export const joinParts = async (archive: R2Bucket, key: string, uploadId: string, etags: string[]): Promise<void> => {
  const parts = etags.map((etag, index) => ({ partNumber: index + 1, etag }));
  await archive.resumeMultipartUpload(key, uploadId).complete(parts);
};

/** What the archive has under a key; null where there is nothing. Several parts have no SHA-256. */
export const findBytes = async (archive: R2Bucket, key: string) => {
  const object = await archive.head(key);
  return object && { size: object.size, etag: object.etag, sha256: object.checksums.toJSON().sha256 ?? null };
};

/** Bytes from `start` to before `end`; null where the object is gone. */
export const readRange = async (
  archive: R2Bucket,
  key: string,
  { start, end }: { start: number; end: number },
): Promise<ReadableStream<Uint8Array> | null> => {
  if (start >= end) return new Blob([]).stream();
  return (await archive.get(key, { range: { offset: start, length: end - start } }))?.body ?? null;
};
