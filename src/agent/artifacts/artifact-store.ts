import type { PlanDownload } from "../../pipeline/parse/plan.ts";
import type { ArtifactFile, ArtifactForm } from "../../protocol/artifact.ts";
import type { CollectedFiles } from "../files/file-helper.ts";

/** An artifact's properties, without its files. */
export interface NewArtifact {
  name: string;
  as: ArtifactForm;
  keepDays: number | null;
}

/** An artifact from an earlier job. */
export interface LeftArtifact {
  name: string;
  as: ArtifactForm;
  /** The job's matrix combination; null without a matrix. */
  matrix: Record<string, string | boolean> | null;
  bytes: number;
  files(): Promise<Omit<ArtifactFile, "crc32">[]>;
  /** Yields the bytes of all files, in the list's order. */
  content(): AsyncIterable<Buffer>;
}

/** Stores artifacts: at the service, or in a folder on this machine. */
export interface ArtifactStore {
  keep(artifact: NewArtifact, collected: CollectedFiles): Promise<void>;
  find(download: PlanDownload): Promise<LeftArtifact[]>;
}
