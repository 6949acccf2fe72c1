import * as z from "zod/mini";
import { atMost, atMostItems, intBetween, notEmpty, visible, withoutControls } from "./checks.ts";
import { Id, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";

/*
 * ARTIFACTS. Every call of an agent names a job and its lease:
 *   POST /job/{id}/artifact                 ArtifactOpening -> OpenedArtifact, which lists the parts to send. A repeated
 *                                           call returns the same `artifactId` and a fresh grant.
 *   PUT  /job/{id}/artifact/{a}/part/{n}    with `X-Grant`, `Content-Length` and `X-Content-SHA256` -> SentPart. Every
 *                                           part except the last has `partBytes`. Repeatable.
 *   POST /job/{id}/artifact/{a}/done        with `X-Grant`: ArtifactEnd -> Artifact. Idempotent.
 *   POST /job/{id}/download                 DownloadRequest -> Downloads: artifacts of earlier jobs.
 *   GET  /artifact/{grant}/list             -> ArtifactFile[], in the order of their bytes.
 *   GET  /artifact/{grant}/content          the bytes of all files, with `Range`.
 */

/** The grant from `POST /job/{id}/artifact`, for the parts and the end. */
export const GRANT_HEADER = "X-Grant";
/** The SHA-256 of a part, in 64 hexadecimal digits. */
export const CONTENT_SHA256_HEADER = "X-Content-SHA256";

/** The stored form: files, or one tar that keeps links and modes. */
export const ArtifactForm = z.enum(["files", "tar"]);
export type ArtifactForm = z.infer<typeof ArtifactForm>;

/**
 * An artifact's name, which is unique in its job. It contains nothing that a path, a header or a file system could
 * interpret.
 */
export const ArtifactName = z.string().check(
  notEmpty(),
  atMost(LIMITS.artifactNameCharacters),
  withoutControls(),
  z.regex(/^[^":<>|*?/\\]+$/, 'must not have any of " : < > | * ? / \\'),
  z.refine((name) => name !== "." && name !== "..", "must not be . or .."),
  visible(),
);

/** The artifact that an agent is about to send. The sizes are final. */
export const ArtifactOpening = z.object({
  name: ArtifactName,
  as: ArtifactForm,
  keepDays: z.optional(intBetween(1, LIMITS.artifactDays)),
  /** The total bytes of all files. */
  bytes: intBetween(0, LIMITS.artifactBytes),
  files: intBetween(1, LIMITS.artifactFiles),
});
export type ArtifactOpening = z.infer<typeof ArtifactOpening>;

/** The answer to an opening, for artifacts and cache entries. */
export const openedUpload = {
  grant: z.string(),
  /** When the grant expires. The agent repeats the request to get another grant. */
  expiresAt: Timestamp,
  partBytes: z.int(),
  parts: z.int(),
};

/** The answer to an artifact's opening. `parts` may be 0, because an artifact without any bytes has no parts. */
export const OpenedArtifact = z.object({ artifactId: Id, ...openedUpload });
export type OpenedArtifact = z.infer<typeof OpenedArtifact>;
export type OpenedUpload = Omit<OpenedArtifact, "artifactId">;

export const SentPart = z.object({ etag: z.string() });

export const hex = (digits: number) =>
  z.string().check(z.regex(new RegExp(`^[0-9a-f]{${digits}}$`), `must be ${digits} hex digits`));

/** One file of an artifact. `path` is relative, with `/` as the only separator. */
export const ArtifactFile = z.object({
  path: z.string().check(notEmpty(), atMost(LIMITS.artifactPathBytes)),
  size: intBetween(0, LIMITS.artifactBytes),
  mode: z.enum(["644", "755"]),
  sha256: hex(64),
  crc32: hex(8),
});
export type ArtifactFile = z.infer<typeof ArtifactFile>;

/** The service's answers for the parts. */
export const sentParts = {
  etags: z.array(z.string().check(atMost(LIMITS.etagCharacters))).check(atMostItems(LIMITS.artifactParts, "parts")),
  /** Present only if there are several parts: the MD5 of the MD5s of all parts (16 bytes each), one after the other. */
  md5: z.optional(hex(32)),
};

/** The files, in the order of their bytes. */
export const ArtifactEnd = z.object({
  list: z.array(ArtifactFile).check(z.minLength(1, "must not be empty"), atMostItems(LIMITS.artifactFiles, "files")),
  ...sentParts,
});
export type ArtifactEnd = z.infer<typeof ArtifactEnd>;

/** An artifact of a job. */
export const Artifact = z.object({
  id: Id,
  jobId: Id,
  name: z.string(),
  as: ArtifactForm,
  bytes: z.int(),
  files: z.int(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});
export type Artifact = z.infer<typeof Artifact>;

/** An artifact with its files. */
export const ArtifactWithFiles = z.extend(Artifact, { list: z.array(ArtifactFile) });
export type ArtifactWithFiles = z.infer<typeof ArtifactWithFiles>;

/** Requests artifacts of earlier jobs. Without a name, requests all artifacts of a job. */
export const DownloadRequest = z.object({
  downloads: z
    .array(
      z.object({
        from: z.string().check(notEmpty(), atMost(LIMITS.nameCharacters)),
        artifact: z.optional(ArtifactName),
      }),
    )
    .check(z.minLength(1, "must not be empty"), atMostItems(LIMITS.downloads, "downloads")),
});
export type DownloadRequest = z.infer<typeof DownloadRequest>;

/** The artifacts to download. `from` repeats the request, and `matrix` has the values of a combination. */
export const Downloads = z.object({
  artifacts: z.array(
    z.object({
      from: z.string(),
      matrix: z.nullable(z.record(z.string(), z.union([z.string(), z.boolean()]))),
      jobId: Id,
      name: z.string(),
      as: ArtifactForm,
      bytes: z.int(),
      files: z.int(),
      /** A grant for the two calls below `/artifact/{grant}`, valid for 60 minutes. */
      grant: z.string(),
    }),
  ),
});
export type Downloads = z.infer<typeof Downloads>;

/** Requests an address that shows an artifact, or one of its files or folders, to everyone who has the address. */
export const ArtifactShare = z.strictObject({
  hours: intBetween(1, LIMITS.shareHours),
  path: z.nullish(z.string().check(notEmpty(), atMost(LIMITS.artifactPathBytes))),
});

export const SharedArtifact = z.object({ url: z.string(), expiresAt: Timestamp });

/** Path parameters: the part's number, the file and the grant. */
export const PartNumber = z.coerce.number().check(z.int(), z.minimum(1), z.maximum(LIMITS.artifactParts));
export const FilePath = z.string().check(notEmpty());
export const ArtifactGrant = z.string().check(z.maxLength(4000));

export const PathArtifact = z.object({ id: Id, name: ArtifactName });

/** An artifact, as the pool and the build's record store it. */
export interface StoredArtifact {
  id: string;
  name: string;
  as: ArtifactForm;
  bytes: number;
  files: number;
  /** The fence of the lease that sent the artifact. */
  fence: number;
  /**
   * The day (UTC) after which retention deletes the artifact. The day is part of the artifact's keys in the archive.
   */
  day: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** A day in whose folder a job may have artifacts. */
export interface ArtifactPlace {
  jobId: string;
  day: string;
}
