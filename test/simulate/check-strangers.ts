import { refOf } from "../../src/domain/git-ref.ts";
import type { PoolState } from "../../src/queue/state/state.ts";
import type { AnyInput, Call, CheckContext } from "./observations.ts";
import type { SimArriving } from "./repository.ts";
import { must } from "./violation.ts";

const LABEL = "untrusted";

/** Records the author of requested code, only from the host's and people's statements. */
export const noteStrangers = ({ observed, storage }: CheckContext, value: AnyInput, { command, input }: Call): void => {
  if (command === "arrive" && !value.isRepeat)
    (input.builds as SimArriving[]).forEach(({ trust, needsApproval = false, branch, commitSha: sha }, index) => {
      const { outcome, buildId } = value.builds[index];
      if (outcome !== "made" || trust !== "untrusted") return;
      observed.strangers.set(buildId, { ref: refOf(branch), sha, mustBeApproved: needsApproval, isApproved: false });
    });
  // A Worker of the previous release omits it, and nobody else knows it for a build that was deleted in the meantime.
  const isKnown = input?.trust !== undefined || storage.rows.builds.has(input?.retryOf);
  const repeated = command === "enqueue" && value.isNew && isKnown ? observed.strangers.get(input.retryOf) : undefined;
  if (repeated) observed.strangers.set(value.buildId, { ...repeated, mustBeApproved: true, isApproved: false });
};

/** A person approved or rejected a commit. */
export const checkApproval = ({ observed, storage }: CheckContext, { input, now, build, audits }: Call): void => {
  const stranger = observed.strangers.get(input.id);
  const approval = build?.approval;
  if (!stranger || !approval || build.status !== "queued" || approval.decision) return;
  must(44, stranger.mustBeApproved, "a build waits for an approval that it does not need");
  must(44, input.role !== "viewer", "a viewer approved a commit");
  must(44, (input.commitSha ?? stranger.sha) === stranger.sha, "an unseen commit was approved");
  must(44, now < approval.until, "a commit was approved after its deadline");
  must(
    44,
    audits.includes(`job.${input.approved ? "approve" : "reject"} ${input.id}`),
    "an approval left no audit entry",
  );
  const after = storage.rows.builds.get(input.id)!;
  must(44, after.approval!.decision?.approved === input.approved, "a commit's decision differs from the person's");
  must(44, input.approved ? after.status === "queued" : after.status === "canceled", "a rejected build continues");
  stranger.isApproved = input.approved;
};

/** Checks the agents' jobs after each call. */
export const checkStrangers = ({ observed }: CheckContext, state: PoolState): void => {
  for (const { buildId, lease, requires } of state.jobs.values()) {
    const agent = lease && state.agents.get(lease.agentId);
    if (!agent) continue;
    const build = state.builds.get(buildId)!;
    const stranger = observed.strangers.get(buildId);
    const isMarked = agent.labels.includes(LABEL);
    if (!stranger) {
      must(
        45,
        !isMarked || requires.labels?.includes(LABEL) === true,
        "an agent for untrusted builds got a trusted build",
      );
      continue;
    }
    must(44, !stranger.mustBeApproved || stranger.isApproved, "a build with an unapproved commit runs");
    must(45, isMarked, "an untrusted build went to an agent without the label");
    must(
      45,
      agent.features?.includes("untrusted") === true,
      "an untrusted build went to an agent without this feature",
    );
    must(45, build.trust === "untrusted", "a build lost its untrusted mark");
    must(44, build.commitSha === stranger.sha, "a different commit runs than the approved one");
  }
};

/** A stranger's build ends only builds of its own ref. */
export const checkEndedByStranger = ({ observed, storage }: CheckContext): void => {
  for (const { supersededBy, branch } of storage.rows.builds.values()) {
    const stranger = supersededBy ? observed.strangers.get(supersededBy) : undefined;
    must(45, !stranger || refOf(branch) === stranger.ref, "an untrusted build ended another ref's build");
  }
};
