import type { ArtifactFile } from "../protocol/artifact.ts";
import { ABSENT } from "./bytes.ts";
import { UNTIL_DAY } from "./keys.ts";

/** Identifies one stored artifact. */
export interface ArtifactOwner {
  /** Retention deletes the artifact after this day (UTC). */
  day: string;
  orgId: string;
  jobId: string;
  /** The fence of the lease that sent the artifact. */
  fence: number;
  id: string;
}

/** The folder of all artifacts that a job keeps until this day. */
const artifactPrefix = ({ day, orgId, jobId }: Pick<ArtifactOwner, "day" | "orgId" | "jobId">): string =>
  `${UNTIL_DAY}/${day}/${orgId}/${jobId}/`;

/** The key of one object that holds the bytes of all the artifact's files, one after the other. */
export const artifactKey = (owner: ArtifactOwner): string => `${artifactPrefix(owner)}${owner.fence}/${owner.id}`;

const LIST = ".list";
const listKey = (owner: ArtifactOwner): string => artifactKey(owner) + LIST;

const zipped = async (text: string): Promise<ArrayBuffer> =>
  new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();

/** Stores the list of files, in the order of their bytes. @returns whether this list is stored now */
export const putFileList = async (
  archive: R2Bucket,
  owner: ArtifactOwner,
  list: ArtifactFile[],
  sha256: string,
): Promise<boolean> => {
  const key = listKey(owner);
  const object = await archive.put(key, await zipped(JSON.stringify(list)), {
    httpMetadata: { contentType: "application/json", contentEncoding: "gzip" },
    customMetadata: { sha256 },
    onlyIf: ABSENT,
  });
  return object !== null || (await archive.head(key))?.customMetadata?.sha256 === sha256;
};

/** Reads the list of an artifact's files; null where retention or a person has deleted the artifact. */
export const readFileList = async (archive: R2Bucket, owner: ArtifactOwner): Promise<ArtifactFile[] | null> => {
  const object = await archive.get(listKey(owner));
  if (!object) return null;
  const text = await new Response(object.body.pipeThrough(new DecompressionStream("gzip"))).text();
  return JSON.parse(text) as ArtifactFile[];
};

/** Deletes one artifact. The call is idempotent. */
export const deleteArtifact = async (archive: R2Bucket, owner: ArtifactOwner): Promise<void> =>
  archive.delete([artifactKey(owner), listKey(owner)]);

/**
 * Deletes every artifact that a job keeps until this day, under any lease. The call is idempotent.
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
