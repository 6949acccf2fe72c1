import { LIMITS } from "../../protocol/limits.ts";
import type { GitHost, HostAddress, StatusHost } from "./git-host.ts";
import { type HostAnswer, hostFetch } from "./host-fetch.ts";
import type { Status } from "./status.ts";
import { readFields, type StatusOutcome } from "./status-answers.ts";

/** Where to report statuses, and the token for it. */
export interface StatusAddress extends HostAddress {
  host: GitHost;
  /** Whether the token belongs to an App, which can report more than statuses. */
  isApp: boolean;
}

const chooseStatuses = ({ host, isApp }: StatusAddress, { wasStatus }: Status): StatusHost =>
  isApp && host.app && !wasStatus ? host.app.statuses : host.statuses;

/** The result of a status, and the repository's current name if the host reported a new one. */
export interface PostResult {
  outcome: StatusOutcome;
  fullName: string | null;
}

/** Reports one status to a git host. Never throws. */
export const postStatus = async (address: StatusAddress, status: Status): Promise<PostResult> => {
  const host = chooseStatuses(address, status);
  const checkRun = await findCheckRun(address, host, status);
  const answer =
    "refused" in checkRun
      ? checkRun.refused
      : await hostFetch(address.apiUrl, host.request({ ...status, ...checkRun }, address.token));
  const outcome = host.outcome(answer, Date.now(), status);
  const fullName = isElsewhere(answer) ? await askName(address, host, status.repoId) : null;
  const isRenamed = fullName !== null && fullName !== status.fullName;
  if (!isRenamed || outcome.kind === "told") return { outcome, fullName };
  return { outcome: { kind: "busy", reason: "The repository has a new name." }, fullName };
};

/**
 * Finds the check run to update. If an answer was lost, queries the host. Returns the host's answer if it is
 * inconclusive.
 */
const findCheckRun = async (
  address: StatusAddress,
  { find }: StatusHost,
  status: Status,
): Promise<Pick<Status, "checkRunId"> | { refused: HostAnswer }> => {
  const { checkRunId, mayHaveRun } = status;
  if (!find || !mayHaveRun) return { checkRunId };
  const answer = await hostFetch(address.apiUrl, find.request(status, address.token), LIMITS.hostListBytes);
  if ("unreachable" in answer || answer.status !== 200) return { refused: answer };
  return { checkRunId: find.newest(answer, status) ?? checkRunId };
};

/**
 * Reports whether the repository may have another name, because it moved, is missing, or another repository took the
 * name.
 */
const isElsewhere = (answer: HostAnswer): boolean =>
  !("unreachable" in answer) && (answer.isMoved || answer.status === 404 || answer.status === 422);

const askName = async ({ apiUrl, token }: StatusAddress, host: StatusHost, repoId: number): Promise<string | null> => {
  if (!host.repository) return null;
  const answer = await hostFetch(apiUrl, host.repository(repoId, token));
  if ("unreachable" in answer || answer.status !== 200) return null;
  const name = readFields(answer)?.full_name;
  return typeof name === "string" && /^[^/\s]+(?:\/[^/\s]+)+$/.test(name) && name.length <= 400 ? name : null;
};
