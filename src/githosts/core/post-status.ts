import { LIMITS } from "../../protocol/limits.ts";
import type { GitHost, HostAddress, StatusHost } from "./git-host.ts";
import { type HostAnswer, hostFetch } from "./host-fetch.ts";
import type { Status } from "./status.ts";
import { readFields, type StatusOutcome } from "./status-answers.ts";

/** Where statuses are told, and the token that may. */
export interface StatusAddress extends HostAddress {
  host: GitHost;
  /** The token is one of an App, which has more to tell than statuses. */
  isApp: boolean;
}

const chooseStatuses = ({ host, isApp }: StatusAddress, { wasStatus }: Status): StatusHost =>
  isApp && host.app && !wasStatus ? host.app.statuses : host.statuses;

/** What came of a status, and the repository's name of today where the host told another one. */
export interface PostResult {
  outcome: StatusOutcome;
  fullName: string | null;
}

/** Tells a git host one status. Never throws. */
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
  return { outcome: { kind: "busy", reason: "The repository has another name." }, fullName };
};

/** The check run to change; asks for it where an answer was lost, and gives that answer where it tells nothing. */
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

/** Whether the repository may have another name: it moved, or is not there, or another one took the name. */
const isElsewhere = (answer: HostAnswer): boolean =>
  !("unreachable" in answer) && (answer.isMoved || answer.status === 404 || answer.status === 422);

const askName = async ({ apiUrl, token }: StatusAddress, host: StatusHost, repoId: number): Promise<string | null> => {
  if (!host.repository) return null;
  const answer = await hostFetch(apiUrl, host.repository(repoId, token));
  if ("unreachable" in answer || answer.status !== 200) return null;
  const name = readFields(answer)?.full_name;
  return typeof name === "string" && /^[^/\s]+(?:\/[^/\s]+)+$/.test(name) && name.length <= 400 ? name : null;
};
