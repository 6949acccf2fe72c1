import type { HostAnswer, HostRequest } from "./host-fetch.ts";
import type { HostResponse } from "./rate-limit.ts";
import type { Status } from "./status.ts";
import type { StatusOutcome } from "./status-answers.ts";

/** How a kind of git host is told a status. */
export interface StatusHost {
  request(status: Status, token: string): HostRequest;
  outcome(answer: HostAnswer, now: number, status: Status): StatusOutcome;
  /** Looks for what the host made without saying so, where a status has an id; absent where it has none. */
  find?: {
    request(status: Status, token: string): HostRequest;
    newest(answer: HostResponse, status: Status): number | null;
  };
  /** Asks for a repository by its id; null where a status names the id anyway. */
  repository: ((repoId: number, token: string) => HostRequest) | null;
}
