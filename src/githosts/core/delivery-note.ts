import type { DeliveryTaken } from "../../protocol/delivery.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { type Arrival, repositoryOf } from "./arrival.ts";

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

/** Characters of a delivery that is kept to be taken once more: of 200 of them, some MB. */
const KEPT_CHARACTERS = 16_384;

const isSmall = (arrival: Arrival): boolean => JSON.stringify(arrival).length <= KEPT_CHARACTERS;

/** What is kept: of a long list of files only that it is not known, or nothing at all. */
const boundedArrival = (arrival: Arrival): Arrival | null => {
  if (isSmall(arrival)) return arrival;
  const shorter: Arrival = arrival.kind === "push" ? { ...arrival, changedPaths: null } : arrival;
  return isSmall(shorter) ? shorter : null;
};

/** The line of the list of deliveries. */
export const deliveryNote = (
  { delivery, builds, ignored }: DeliveryTaken,
  event: string | null,
  arrival: Arrival,
  now: Date,
): DeliveryNote => {
  const hostRepository = repositoryOf(arrival);
  return {
    id: delivery,
    at: now.getTime(),
    event: event ?? "",
    repository: hostRepository && {
      hostRepoId: hostRepository.id,
      fullName: hostRepository.fullName,
      defaultBranch: hostRepository.defaultBranch,
    },
    ref: "ref" in arrival ? arrival.ref : null,
    sha: "sha" in arrival ? arrival.sha : null,
    builds,
    ignored,
    arrival: boundedArrival(arrival),
  };
};

/** Characters that the list takes of a delivery, and of each text beside it, whoever made the note. */
const ARRIVAL_CHARACTERS = 65_536;
const TEXT_CHARACTERS = 500;

const cut = <T extends string | null>(text: T): T => (text?.slice(0, TEXT_CHARACTERS).toWellFormed() ?? null) as T;

/** The note as the list takes it: whoever sent the delivery chose its texts. */
export const boundedNote = ({ repository, arrival, ...note }: DeliveryNote): DeliveryNote => ({
  ...note,
  id: cut(note.id),
  event: cut(note.event),
  ref: cut(note.ref),
  sha: cut(note.sha),
  ignored: cut(note.ignored),
  repository: repository && {
    hostRepoId: repository.hostRepoId,
    fullName: cut(repository.fullName),
    defaultBranch: cut(repository.defaultBranch),
  },
  arrival: JSON.stringify(arrival).length > ARRIVAL_CHARACTERS ? null : arrival,
});

/** A delivery that its host proved to have sent, while the service could not take it. */
export interface KeptDelivery {
  /** Its line in the list of deliveries until it is taken. */
  note: DeliveryNote & { arrival: Arrival };
  /** Of the hook that it came to. */
  generation: number;
  /** Scheme and host of the service as the host reached it. */
  origin: string;
  requestId: string;
}

/** Milliseconds for which one is kept: the pool knows a delivery that comes again for as long. */
const KEEP_MS = 4 * DAY_MS;

export const isTooOld = ({ note }: KeptDelivery, now: number): boolean => now - note.at > KEEP_MS;

/** What is taken in order: the deliveries of one repository. A pull request may follow from the push before it. */
export const orderKey = ({ note }: KeptDelivery): number | null => note.repository?.hostRepoId ?? null;
