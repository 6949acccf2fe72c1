import type { ToldState } from "../githost/host-report.ts";
import { type Decision, type DecisionContext, decided } from "./decision.ts";
import type { Change } from "./facts.ts";
import { nextAttempt } from "./outbox.ts";
import type { PoolState } from "./state.ts";

/** What one attempt told the git hosts' objects. */
export interface HostResult {
  /** Builds with the state and version that were told; a state of null where there is nothing to tell any more. */
  told: { buildId: string; state: ToldState | null; version?: number }[];
  /** Something could not be told. */
  failed: boolean;
}

/** Records what was told. A build that has ended since is due again. */
export const recordHosts = (
  state: PoolState,
  { told, failed }: HostResult,
  { now, rules }: DecisionContext,
): Decision<null> => {
  const changes = told.flatMap(({ buildId, state: heard, version }): Change[] => {
    const build = state.builds.get(buildId) ?? state.records.ended(buildId);
    const isTold = !build || heard === null || rules.isHostTold(build, heard, version);
    return isTold && state.hostDue.has(buildId) ? [{ kind: "host-told", buildId, state: heard }] : [];
  });
  const left = state.hostDue.size - changes.length;
  const failures = failed ? state.tellingHosts.failures + 1 : 0;
  const at = rules.tellsHostsAgain(left, failed) ? nextAttempt(now, failures) : null;
  return decided(null, [...changes, { kind: "telling-hosts", at, failures }]);
};
