import type { Arrival } from "./arrival.ts";

/** A delivery of a git host, and what came of it. */
export interface DeliveryNote {
  /** The host's own id of the delivery. */
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  /** The event in the host's words. */
  event: string;
  repository: { hostRepoId: number; fullName: string; defaultBranch: string | null } | null;
  ref: string | null;
  sha: string | null;
  /** Ids of the builds that it made, or that were there already. */
  builds: string[];
  /** Why nothing was built, in words for people; null where something was. */
  ignored: string | null;
  /** To take it once more; null where it is too large to keep. */
  arrival: Arrival | null;
}
