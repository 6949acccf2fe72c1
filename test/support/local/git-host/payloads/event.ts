import type { Changeable } from "../../../deliveries/bodies.ts";
import type { BareRepository, HostedPull, RefChange } from "../bare-repository.ts";

/** What a host tells its hooks; `name` is the value of its header of events. */
export interface HostEvent {
  name: string;
  body: Changeable;
}

export type PullMoment = "opened" | "new-head" | "closed";

/** What hosts tell of a repository. */
export type NamedRepository = Pick<BareRepository, "id" | "fullName" | "defaultBranch">;

/** What a kind of host says of what happened. */
export interface Teller {
  pushed(repository: NamedRepository, change: RefChange): HostEvent[];
  pull(repository: NamedRepository, pull: HostedPull, moment: PullMoment, before: string | null): HostEvent[];
  ping(repository: NamedRepository): HostEvent[];
}

export const ZEROS = "0".repeat(40);
