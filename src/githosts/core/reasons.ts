import { refOf } from "../../domain/git-ref.ts";
import type { Arrival } from "./arrival.ts";

export const NO_PIPELINE = "there is no active pipeline";
export const UNWANTED_BRANCH = "no pipeline wants this branch";

interface Repository {
  defaultBranch: string;
  /** Its page in the dashboard. */
  address: string;
}

/** Why there is no build, with what a person does not see from here. */
export const reasonOf = (reason: string, arrival: Arrival, { defaultBranch, address }: Repository): string => {
  if (reason === NO_PIPELINE) return `${NO_PIPELINE}: add one at ${address}`;
  if (reason !== UNWANTED_BRANCH || arrival.kind !== "push") return reason;
  const there = arrival.repository.defaultBranch;
  if (there === null || there === defaultBranch || arrival.ref !== refOf(there)) return reason;
  return `${UNWANTED_BRANCH}: ${there} is the default branch at the host, and ${defaultBranch} is it here`;
};
