import type { StoredArtifact } from "../../protocol/stored-artifact.ts";

/** A named set of files that an agent sends under one lease. Its bytes are in the archive. */
export interface ArtifactFacts extends StoredArtifact {
  /** Of the archive, where it comes in several parts, until it is whole. */
  uploadId?: string;
  isKept?: boolean;
  /** The same name was begun anew with other sizes. */
  isReplaced?: boolean;
}
