import type { Changeable } from "../../../deliveries/bodies.ts";
import type { BareRepository, HostedPull, RefChange } from "../bare-repository.ts";

/** An event that a host sends to its hooks. `name` is the value of its header for events. */
export interface HostEvent {
  name: string;
  body: Changeable;
}

export type PullMoment = "opened" | "new-head" | "closed";

/** The fields of a repository that hosts send. */
export type NamedRepository = Pick<BareRepository, "id" | "fullName" | "defaultBranch">;

/** Creates the events of one kind of host. */
export interface Teller {
  pushed(repository: NamedRepository, change: RefChange): HostEvent[];
  pull(repository: NamedRepository, pull: HostedPull, moment: PullMoment, before: string | null): HostEvent[];
  ping(repository: NamedRepository): HostEvent[];
}

export const ZEROS = "0".repeat(40);
