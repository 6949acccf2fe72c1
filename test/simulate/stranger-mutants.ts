import { unmetRequirements } from "../../src/domain/requires.ts";
import type { Invariant } from "./invariants.ts";
import { planted } from "./planted.ts";
import type { WrongRules } from "./pool.ts";

/** Wrong rules for someone else's code, each with the invariant that it breaks. */
export const STRANGER_MUTANTS: readonly [breaks: Invariant, name: string, rules: Partial<WrongRules>][] = [
  [
    44,
    "forks need no approval",
    planted("queue/commands/enqueue.ts", "(request.needsApproval || retryOf !== null)", "false"),
  ],
  [
    44,
    "a retry needs no approval",
    planted("queue/commands/enqueue.ts", "(request.needsApproval || retryOf !== null)", "request.needsApproval"),
  ],
  [
    44,
    "the approval of a pull request holds for its next commit",
    planted(
      "queue/commands/enqueue.ts",
      "(request.needsApproval || retryOf !== null)",
      `(request.needsApproval || retryOf !== null) && !(
         origin?.pull &&
         [...builds.values()].some((one) => one.origin?.pull?.number === origin.pull.number && one.approval?.decision)
       )`,
    ),
  ],
  [44, "anybody approves", planted("queue/commands/gates.ts", "!includesRole(role, APPROVER)", "false")],
  [
    44,
    "a commit is approved unseen",
    planted("queue/commands/gates.ts", "commitSha !== null && commitSha !== build.commitSha", "false"),
  ],
  [
    44,
    "a retry is trusted",
    planted(
      "queue/commands/enqueue.ts",
      "trustOf(request.trust ? request : (retriedBuild ?? {}))",
      "trustOf(retryOf === null ? request : {})",
    ),
  ],
  [
    44,
    "the service's claim about a retry is believed",
    planted("queue/commands/enqueue.ts", "trustOf(request.trust ? request : (retriedBuild ?? {}))", "trustOf(request)"),
  ],
  [
    45,
    "untrusted builds need no label",
    planted(
      "queue/state/trust.ts",
      `JobFacts =>
  trustOf(build) === "trusted"`,
      `JobFacts =>
  true`,
    ),
  ],
  [
    45,
    "only the build itself needs the label, not its jobs",
    planted(
      "queue/state/trust.ts",
      `JobFacts =>
  trustOf(build) === "trusted"`,
      `JobFacts =>
  job.id !== job.buildId || trustOf(build) === "trusted"`,
    ),
  ],
  [
    45,
    "untrusted builds go to agents without the feature",
    planted("queue/state/trust.ts", 'features: [...new Set([...(job.features ?? []), "untrusted" as const])],', ""),
  ],
  [
    12,
    "agents for untrusted builds get trusted builds",
    { meets: (agent, needs) => unmetRequirements(agent, needs).length === 0 },
  ],
  [
    45,
    "an untrusted build ends another ref's build",
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
