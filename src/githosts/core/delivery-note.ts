import type { DeliveryTaken } from "../../protocol/delivery.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { type Arrival, repositoryOf } from "./arrival.ts";

/** A delivery of a git host, and its result. */
export interface DeliveryNote {
  /** The host's own id of the delivery. */
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  /** The event in the words of the host. */
  event: string;
  repository: { hostRepoId: number; fullName: string; defaultBranch: string | null } | null;
  ref: string | null;
  sha: string | null;
  /** The ids of the builds that the delivery triggered, or that already existed. */
  builds: string[];
  /** The reason why the delivery triggered no build, in words for people; null if it triggered one. */
  ignored: string | null;
  /** The event, for a redelivery; null if it is too large to keep. */
  arrival: Arrival | null;
}

/** Maximum characters of a delivery that is kept for redelivery. 200 such deliveries have a few MB. */
const KEPT_CHARACTERS = 16_384;

const isSmall = (arrival: Arrival): boolean => JSON.stringify(arrival).length <= KEPT_CHARACTERS;

/**
 * Returns the part of an arrival to keep. It omits a long list of files, which then counts as unknown. Returns null if
 * the rest is too large.
 */
const boundedArrival = (arrival: Arrival): Arrival | null => {
  if (isSmall(arrival)) return arrival;
  const shorter: Arrival = arrival.kind === "push" ? { ...arrival, changedPaths: null } : arrival;
  return isSmall(shorter) ? shorter : null;
};

/** Returns the row for the list of deliveries. */
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

/** Maximum characters of a delivery in the list, and of each text beside it, whoever wrote the note. */
const ARRIVAL_CHARACTERS = 65_536;
const TEXT_CHARACTERS = 500;

const cut = <T extends string | null>(text: T): T => (text?.slice(0, TEXT_CHARACTERS).toWellFormed() ?? null) as T;

/** Bounds a note for the list, because the sender of the delivery chose its texts. */
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

/** A delivery with a valid proof that the service could not process. */
export interface KeptDelivery {
  /** The delivery's row in the list of deliveries until it is processed. */
  note: DeliveryNote & { arrival: Arrival };
  /** The generation of the hook that received the delivery. */
  generation: number;
  /** The scheme and host under which the git host reached the service. */
  origin: string;
  requestId: string;
}

/**
 * Milliseconds for which the service keeps such a delivery. The pool recognizes a repeated delivery within the same
 * period.
 */
const KEEP_MS = 4 * DAY_MS;

export const isTooOld = ({ note }: KeptDelivery, now: number): boolean => now - note.at > KEEP_MS;

/**
 * Returns the key for the order of processing. Deliveries with the same key, those of one repository, are processed in
 * order, because a pull request may depend on the push before it.
 */
export const orderKey = ({ note }: KeptDelivery): number | null => note.repository?.hostRepoId ?? null;
