import type { Arrival } from "./arrival.ts";
import type { DeliveryNote } from "./delivery-note.ts";

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
const KEEP_MS = 4 * 24 * 60 * 60_000;

export const isTooOld = ({ note }: KeptDelivery, now: number): boolean => now - note.at > KEEP_MS;

/** What is taken in order: the deliveries of one repository. A pull request may follow from the push before it. */
export const orderKey = ({ note }: KeptDelivery): number | null => note.repository?.hostRepoId ?? null;
