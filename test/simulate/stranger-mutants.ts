import { RULES } from "../../src/domain/pool/rules.ts";
import { unmetRequirements } from "../../src/domain/requires.ts";
import type { Invariant } from "./invariants.ts";
import type { WrongRules } from "./pool.ts";

/** Wrong rules for code that is not the repository's own, each with the invariant that it breaks. */
export const STRANGER_MUTANTS: readonly [breaks: Invariant, name: string, rules: Partial<WrongRules>][] = [
  [44, "forks need no approval", { needsApproval: () => false }],
  [44, "a retry needs no approval", { needsApproval: ({ needsApproval = false }) => needsApproval }],
  [
    44,
    "the approval of a pull request holds for its next commit",
    {
      needsApproval: (request, builds) => {
        const { origin } = request;
        const isSame = ({ origin: known, approval }: { origin?: typeof origin; approval?: { decision: unknown } }) =>
          known?.pull?.number === origin?.pull?.number && approval?.decision != null;
        return RULES.needsApproval(request, builds) && !(origin?.pull && [...builds].some(isSame));
      },
    },
  ],
  [44, "anybody approves", { mayApproveCommit: () => true }],
  [44, "a commit is approved unseen", { isOfCommit: () => true }],
  [
    44,
    "a retry is trusted",
    {
      trustOfNew: (request) =>
        RULES.trustOfNew(request.retryOf === null ? request : { ...request, trust: undefined }, undefined),
    },
  ],
  [
    44,
    "what the service says of a retry is believed",
    { trustOfNew: (request) => RULES.trustOfNew(request, undefined) },
  ],
  [45, "untrusted builds need no label", { confined: (job) => job }],
  [
    45,
    "only the build itself needs the label, not its jobs",
    { confined: (job, build) => (job.id === job.buildId ? RULES.confined(job, build) : job) },
  ],
  [
    45,
    "untrusted builds go to any program",
    { confined: (job, build) => ({ ...RULES.confined(job, build), features: job.features }) },
  ],
  [
    12,
    "agents for untrusted builds get others",
    { meets: (agent, needs) => unmetRequirements(agent, needs).length === 0 },
  ],
  [
    45,
    "an untrusted build ends one of another ref",
    {
      besides: (state, changes) => {
        const made = changes.find((one) => one.kind === "build" && one.build.trust && !state.builds.has(one.build.id));
        const victim = [...state.builds.values()].find(({ status, trust }) => status === "queued" && !trust);
        if (made?.kind !== "build" || !victim) return [];
        return [{ kind: "build", build: { ...victim, supersededBy: made.build.id, version: victim.version + 1 } }];
      },
    },
  ],
];
