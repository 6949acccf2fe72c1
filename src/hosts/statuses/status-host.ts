import type { Status } from "../../domain/githost/status.ts";
import type { Outcome } from "../../domain/githost/status-answers.ts";
import type { HostAnswer, HostRequest } from "../host-fetch.ts";

/** How a kind of git host is told a status. */
export interface StatusHost {
  request(status: Status, token: string): HostRequest;
  outcome(answer: HostAnswer, now: number): Outcome;
  /** Asks for a repository by its id; null where a status names the id anyway. */
  repository: ((repoId: number, token: string) => HostRequest) | null;
}
