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

/** Characters of a delivery that is kept to be taken once more, and of each text beside it. */
const ARRIVAL_CHARACTERS = 64 * 1024;
const TEXT_CHARACTERS = 500;

const cut = <T extends string | null>(text: T): T => (text?.slice(0, TEXT_CHARACTERS).toWellFormed() ?? null) as T;

/** The note as it may be kept: whoever sent the delivery chose its texts. */
export const boundedNote = ({ repository, arrival, ...note }: DeliveryNote): DeliveryNote => ({
  ...note,
  ...{ id: cut(note.id), event: cut(note.event), ref: cut(note.ref), sha: cut(note.sha), ignored: cut(note.ignored) },
  repository: repository && {
    ...{ hostRepoId: repository.hostRepoId, fullName: cut(repository.fullName) },
    defaultBranch: cut(repository.defaultBranch),
  },
  arrival: JSON.stringify(arrival).length > ARRIVAL_CHARACTERS ? null : arrival,
});
