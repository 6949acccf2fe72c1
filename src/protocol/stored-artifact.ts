import type { ArtifactForm } from "./artifact.ts";

/** What a job left, as the pool and the record of its build have it. */
export interface StoredArtifact {
  id: string;
  name: string;
  as: ArtifactForm;
  bytes: number;
  files: number;
  /** Of the lease under which it was sent. */
  fence: number;
  /** The day (UTC) after which it is deleted: a part of its keys in the archive. */
  day: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** A day in whose folder a job may have left artifacts. */
export interface ArtifactPlace {
  jobId: string;
  day: string;
}
