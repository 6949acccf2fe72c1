import type { PlanDownload } from "../../pipeline/parse/plan.ts";
import type { ArtifactFile, ArtifactForm } from "../../protocol/artifact.ts";
import type { CollectedFiles } from "../files/file-helper.ts";

/** What an artifact is, besides its files. */
export interface NewArtifact {
  name: string;
  as: ArtifactForm;
  keepDays: number | null;
}

/** An artifact of a job before this one. */
export interface LeftArtifact {
  name: string;
  as: ArtifactForm;
  /** Its combination; null of a job without a matrix. */
  matrix: Record<string, string | boolean> | null;
  bytes: number;
  files(): Promise<Omit<ArtifactFile, "crc32">[]>;
  /** The bytes of all files, in the order of the list. */
  content(): AsyncIterable<Buffer>;
}

/** Where artifacts are: at the service, or in a folder of this machine. */
export interface ArtifactStore {
  keep(artifact: NewArtifact, collected: CollectedFiles): Promise<void>;
  find(download: PlanDownload): Promise<LeftArtifact[]>;
}
