import type { Arrival } from "../../githosts/core/arrival.ts";
import type { DeliveryNote } from "../../githosts/core/delivery-note.ts";
import type { DeliveryTaken } from "../../protocol/delivery.ts";
import { repositoryOf } from "./arrival-rows.ts";

/** Characters of what is kept of a delivery, so that it can be taken once more: of 200 of them, some MB. */
const KEPT_CHARACTERS = 16_384;

const isSmall = (arrival: Arrival): boolean => JSON.stringify(arrival).length <= KEPT_CHARACTERS;

/** What is kept: of a long list of files only that it is not known, or nothing at all. */
const kept = (arrival: Arrival): Arrival | null => {
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
  const told = repositoryOf(arrival);
  return {
    id: delivery,
    at: now.getTime(),
    event: event ?? "",
    repository: told && { hostRepoId: told.id, fullName: told.fullName, defaultBranch: told.defaultBranch },
    ref: "ref" in arrival ? arrival.ref : null,
    sha: "sha" in arrival ? arrival.sha : null,
    builds,
    ignored,
    arrival: kept(arrival),
  };
};
