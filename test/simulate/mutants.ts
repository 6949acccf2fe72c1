import { isEnded } from "../../src/protocol/build-states.ts";
import { RULES } from "../../src/queue/state/rules.ts";
import type { Invariant } from "./invariants.ts";
import { JOB_MUTANTS } from "./job-mutants.ts";
import { PAUSE_MUTANTS } from "./pause-mutants.ts";
import { planted, withoutAudit } from "./planted.ts";
import type { WrongRules } from "./pool.ts";
import { STRANGER_MUTANTS } from "./stranger-mutants.ts";
import { TRY_MUTANTS } from "./try-mutants.ts";

/** The state machine with one wrong rule. The checks must notice that it violates the invariant `breaks`. */
export interface Mutant {
  name: string;
  breaks: Invariant;
  rules: WrongRules;
}

const mutant = (breaks: Invariant, name: string, rules: Partial<WrongRules>): Mutant => ({
  name,
  breaks,
  rules: { ...RULES, ...rules },
});

/** Each must violate its invariant within 2,000 histories, or the check proves nothing. */
export const MUTANTS: readonly Mutant[] = [
  mutant(3, "the fence is ignored", {
    holdsLease: ({ lease }, agentId) => lease?.agentId === agentId,
  }),
  mutant(3, "any agent holds a leased build", {
    holdsLease: ({ lease }) => lease !== null,
  }),
  mutant(3, "the last agent holds the lease of any other", {
    holdsLease: ({ lease, agentId }, caller) => lease !== null && agentId === caller,
  }),
  mutant(3, "any agent that knows the fence holds the lease", {
    holdsLease: ({ lease }, _agentId, fence) => lease?.fence === fence,
  }),
  mutant(
    3,
    "the log of a lost lease stays open",
    planted(
      "queue/commands/lease.ts",
      'lease ? [{ kind: "close", jobId: id, fence: lease.fence, at: now }] : []',
      "[]",
    ),
  ),
  mutant(
    2,
    "fences continue only from the stored fence",
    planted("queue/commands/claim.ts", "Math.max(state.fence + 1, now)", "state.fence + 1"),
  ),
  mutant(2, "fences are only the time", planted("queue/commands/claim.ts", "Math.max(state.fence + 1, now)", "now")),
  mutant(21, "versions continue only from the stored version", { nextVersion: (last) => last + 1 }),
  mutant(5, "a lease ends ten seconds early", { leaseIsOver: (lease, now) => now >= lease.expiresAt - 10_000 }),
  mutant(18, "a deletion deletes nothing", planted("queue/commands/delete.ts", '{ kind: "deleted", deletion },', "")),
  mutant(17, "a lease never ends", { leaseIsOver: () => false }),
  mutant(
    5,
    "an outage extends a lease repeatedly",
    planted("queue/commands/sweep.ts", "graced: true", "graced: false"),
  ),
  mutant(
    5,
    "a lost socket gives no more time",
    planted("queue/commands/wake.ts", 'lease.keptBy === "socket" && !sockets?.hasOwn', "false"),
  ),
  mutant(
    5,
    "every wake extends leases that sockets keep",
    planted("queue/commands/wake.ts", 'lease.keptBy === "socket" && !sockets?.hasOwn', 'lease.keptBy === "socket"'),
  ),
  mutant(
    5,
    "a deadline that only the socket remembers is forgotten",
    planted("queue/commands/wake.ts", "Math.max(lease.expiresAt, keptUntil)", "lease.expiresAt"),
  ),
  mutant(
    5,
    "heartbeats over the socket store no deadline",
    planted("queue/commands/work.ts", "expiresAt <= (lease.writtenUntil ?? lease.expiresAt) + storedForMs", "true"),
  ),
  mutant(6, "attempts have no limit", planted("queue/commands/lease.ts", "attempt - retries < maxAttempts", "true")),
  mutant(
    6,
    "there is one attempt too many",
    planted("queue/commands/lease.ts", "attempt - retries < maxAttempts", "attempt <= maxAttempts"),
  ),
  mutant(
    6,
    "unstarted leases have no limit",
    planted("queue/commands/lease.ts", "unstarted < POOL_LIMITS.unstarted", "true"),
  ),
  mutant(
    6,
    "unstarted leases are not counted",
    planted("queue/commands/lease.ts", "job.unstarted + (isStarted ? 0 : 1)", "job.unstarted"),
  ),
  mutant(
    6,
    "a withdrawn hand-out is counted as unstarted",
    planted(
      "queue/commands/claim.ts",
      "requeue(over, jobPatch, context)",
      "requeue(over, { ...jobPatch, unstarted: entry.job.unstarted + 1 }, context)",
    ),
  ),
  mutant(6, "a release counts as an attempt", { attemptAfterRelease: (job) => job.attempt }),
  mutant(12, "requirements are ignored", { meets: () => true }),
  mutant(12, "labels are ignored", { meets: (agent, needs) => RULES.meets(agent, { ...needs, labels: [] }) }),
  mutant(12, "Xcodes are ignored", { meets: (agent, { xcode: _, ...needs }) => RULES.meets(agent, needs) }),
  mutant(
    12,
    "the newest build comes first",
    planted(
      "queue/commands/match.ts",
      "byQueueOrder(job, first) < 0",
      "first.priority < job.priority || (first.priority === job.priority && first.seq < job.seq)",
    ),
  ),
  mutant(
    12,
    "priorities are ignored",
    planted("queue/commands/match.ts", "byQueueOrder(job, first) < 0", "job.seq < first.seq"),
  ),
  mutant(12, "maxParallel allows one build too many", { hasRoom: (leased, most) => most === null || leased <= most }),
  mutant(12, "maxParallel allows one build too few", { hasRoom: (leased, most) => most === null || leased < most - 1 }),
  mutant(12, "notBefore is ignored", planted("queue/commands/match.ts", "job.notBefore <= context.now", "true")),
  mutant(12, "a draining agent gets builds", {
    takesBuilds: (agent, now) => RULES.takesBuilds({ ...agent, isDraining: false }, now),
  }),
  mutant(12, "an unresponsive agent gets builds", {
    takesBuilds: (agent, now) => RULES.takesBuilds({ ...agent, ignored: 0 }, now),
  }),
  mutant(
    17,
    "a hint that no agent follows is never withdrawn",
    planted("queue/commands/sweep.ts", "now < offer.at + OFFER_MS", "true"),
  ),
  mutant(17, "no waiting agent gets hints", { isAlert: () => false }),
  mutant(
    8,
    "an unanswered poll gets another build",
    planted("queue/commands/claim.ts", 'isAllowed("hand-out", job)', "false"),
  ),
  mutant(
    8,
    "a poll during a build hands it out again",
    planted("queue/commands/claim.ts", 'isAllowed("hand-out", job)', 'job.status !== "canceling"'),
  ),
  mutant(8, "a restarted agent keeps its build", { isRestart: () => false }),
  mutant(5, "a late message of an earlier boot counts as a restart", {
    isRestart: (agent, bootId) => bootId !== null && bootId !== agent.bootId,
    isStale: () => false,
  }),
  mutant(
    15,
    "any token fits any agent",
    planted("queue/state/decision.ts", "agent?.tokenHash === tokenHash ? agent : undefined", "agent"),
  ),
  mutant(
    10,
    "a canceled build is delivered",
    planted("queue/commands/claim.ts", 'isAllowed("deliver", entry.job)', "true"),
  ),
  mutant(
    4,
    "a canceled build may start",
    planted(
      "queue/commands/work.ts",
      '!isAllowed("start", job)',
      'job.status !== "assigned" && job.status !== "canceling"',
    ),
  ),
  mutant(
    4,
    "a build may end before it started",
    planted(
      "queue/commands/work.ts",
      `if (!isAllowed("finish", job)) return refused("conflict", "The build was not started.");
  const refusedOutputs`,
      "const refusedOutputs",
    ),
  ),
  mutant(4, "a finish after the cancel decides how the build ends", { ending: (_held, reported) => reported }),
  mutant(9, "a different second result is accepted", { isSameResult: () => true }),
  mutant(9, "the same result again is rejected", { isSameResult: () => false }),
  mutant(10, "a cancel changes nothing", { mayCancel: () => false }),
  mutant(10, "a leased build cannot be canceled", { mayCancel: (build) => build.status === "queued" }),
  mutant(
    10,
    "an agent gets the stop only once",
    planted("queue/commands/sweep.ts", "(stopDue(state, id) ?? Infinity) <= now", "false"),
  ),
  mutant(17, "heartbeats extend the lease of a stopped build", {
    extended: ({ expiresAt }, now, leaseMs) => Math.max(expiresAt, now + leaseMs),
  }),
  mutant(5, "heartbeats do not extend the lease", { extended: (lease) => lease.expiresAt }),
  mutant(17, "builds have no timeout", { overtime: () => false }),
  mutant(
    16,
    "the outbox misses builds that succeed",
    planted("queue/state/decision.ts", "isEnded(next.status)", 'isEnded(next.status) && next.status !== "succeeded"'),
  ),
  mutant(
    16,
    "the outbox misses new builds",
    planted("queue/commands/enqueue.ts", '{ kind: "due", channel: "lists", buildId: build.id, at: now },', ""),
  ),
  mutant(16, "D1 gets an end before the archive has its record", { mayTell: () => true }),
  mutant(16, "the report of a build's creation counts as the report of its end", { isHeard: () => true }),
  mutant(17, "an end is reported repeatedly", { isHeard: (build) => !isEnded(build.status) }),
  mutant(13, "deliveries leave no audit entry", withoutAudit("build.deliver")),
  mutant(
    15,
    "agents that wait or build can be forgotten",
    planted(
      "queue/state/deadlines.ts",
      "isHere(state, agentId) ? now : lastHeardAt(state, agent))",
      "lastHeardAt(state, agent))",
    ),
  ),
  mutant(
    15,
    "agents are forgotten without regard to the time",
    planted("queue/commands/sweep.ts", "context.now - at < silenceMs", "false"),
  ),
  mutant(
    15,
    "a revoked token registers agents",
    planted("queue/commands/agents.ts", "registeredBy && state.revoked.has(registeredBy.tokenId)", "false"),
  ),
  mutant(12, "a build returns to the agent that released it", { isNotFor: () => false }),
  mutant(
    12,
    "a build can be released unfetched repeatedly",
    planted("queue/commands/reassign.ts", "job.passedOver ||", ""),
  ),
  mutant(
    12,
    "a build waits for another agent that does not exist",
    planted("queue/commands/reassign.ts", "return isOther &&", "return true || isOther &&"),
  ),
  mutant(
    12,
    "no other agent tries a build that one could not fetch",
    planted("queue/commands/reassign.ts", "return isOther &&", "return false &&"),
  ),
  mutant(
    15,
    "a removed agent keeps its build",
    planted("queue/commands/agents.ts", "const entry = findLeasedEntry(state, id)", "const entry = undefined"),
  ),
  mutant(
    7,
    "builds of a repository share a number",
    planted(
      "queue/commands/enqueue.ts",
      "state.records.lastNumber(repoId) + nth.inRepository",
      "Math.max(1, state.records.lastNumber(repoId)) + nth.inRepository - 1",
    ),
  ),
  mutant(
    7,
    "a restored pool numbers builds before it was compared with D1",
    planted("queue/commands/enqueue.ts", "state.unchecked !== null", "false"),
  ),
  mutant(
    7,
    "a restored pool reuses numbers",
    planted("queue/commands/reconcile.ts", "number > state.records.lastNumber(repoId)", "false"),
  ),
  mutant(
    4,
    "a restored pool leases builds before it was compared with D1",
    planted(
      "queue/commands/claim.ts",
      "if (state.unchecked !== null) return uncompared",
      "if (false) return uncompared",
    ),
  ),
  mutant(
    4,
    "a restored pool does not adopt how builds ended",
    planted(
      "queue/commands/reconcile.ts",
      "database.builds.filter(",
      "database.builds.filter(({ finishedAt }) => finishedAt === null).filter(",
    ),
  ),
  mutant(
    16,
    "a restored pool does not end lost builds",
    planted(
      "queue/commands/reconcile.ts",
      "database.builds.filter(",
      "database.builds.filter(({ finishedAt }) => finishedAt !== null).filter(",
    ),
  ),
  mutant(
    15,
    "a restore revives removed agents",
    planted("queue/commands/reconcile.ts", "of database.removedAgents", "of []"),
  ),
  mutant(
    15,
    "a restored D1 does not get revoked tokens",
    planted("queue/commands/sequence.ts", "at > since ? [tokenId] : []", "[]"),
  ),
  mutant(
    16,
    "a restored D1 goes unnoticed",
    planted("queue/commands/sequence.ts", 'complete < databaseSequence ? "database" : "none"', '"none"'),
  ),
  mutant(
    7,
    "a restored pool goes unnoticed",
    planted("queue/commands/sequence.ts", "own !== null && sequence > own", "false"),
  ),
  mutant(
    7,
    "idempotency keys are ignored",
    planted("queue/commands/enqueue.ts", "earlierBuild && now < earlierBuild.at + REMEMBER_MS", "false"),
  ),
  mutant(
    19,
    "deliveries are recognized by their id only",
    planted("queue/commands/arrive.ts", "place(record.heads, pushedHead)", '{ kind: "new", isCertain: true }'),
  ),
  mutant(
    19,
    "deliveries are recognized by their commit only",
    planted(
      "queue/commands/arrive.ts",
      "const position = place(record.heads, pushedHead)",
      `const head = record.heads.find(({ sha }) => sha === pushedHead.sha);
       const position = head ? { kind: "same", head } : place(record.heads, pushedHead)`,
    ),
  ),
  mutant(
    19,
    "a replaced head is built",
    planted(
      "queue/commands/arrive.ts",
      "const position = place(record.heads, pushedHead)",
      `const found = place(record.heads, pushedHead);
       const position = found.kind === "late" ? { kind: "new", isCertain: false } : found`,
    ),
  ),
  mutant(
    19,
    "a delivery is known before all its builds are created",
    planted("queue/commands/arrive.ts", "if (!isRefused)", "if (true)"),
  ),
  mutant(
    19,
    "no delivery is recognized",
    planted("queue/commands/arrive.ts", "now < earlierDelivery.at + HEAD_MS", "false"),
  ),
  mutant(
    20,
    "the head that arrived last is the newest",
    planted(
      "queue/commands/arrive.ts",
      "olderThanNewest(heads, { sha })",
      "{ newest: heads.at(-1), older: heads.slice(0, -1) }",
    ),
  ),
  mutant(
    20,
    "an older head ends a newer head's build",
    planted(
      "queue/commands/arrive.ts",
      "olderThanNewest(heads, { sha })",
      "{ newest: heads.findLast((head) => head.sha === sha), older: heads.filter(({ before }) => before === sha) }",
    ),
  ),
  mutant(21, "git hosts get a state without a version", {
    ...planted("queue/state/host-state.ts", "number, version, sha: commitSha", "number, version: 0, sha: commitSha"),
    isHostTold: (build, told) => RULES.isHostTold(build, told),
  }),
  mutant(21, "git hosts get only the version of the start", {
    ...planted(
      "queue/state/host-state.ts",
      "number, version, sha: commitSha",
      "number, version: build.queuedAt, sha: commitSha",
    ),
    isHostTold: (build, told) => RULES.isHostTold(build, told),
  }),
  mutant(21, "git hosts get no retry after a failed attempt", {
    deliversAgain: (left, failed, channel) =>
      channel === "hosts" ? left > 0 && !failed : RULES.deliversAgain(left, failed, channel),
  }),
  mutant(21, "the report that a build waits counts as its end", { isHostTold: () => true }),
  mutant(21, "git hosts get only waiting builds", {
    hostOutbox: (build, at) => (isEnded(build.status) ? [] : RULES.hostOutbox(build, at)),
  }),
  mutant(43, "artifacts of every attempt are shown", {
    showsArtifact: (artifact, job) => RULES.showsArtifact({ ...artifact, fence: job.fence }, job),
  }),
  mutant(43, "artifacts are shown before they are complete", {
    showsArtifact: (artifact, job) => RULES.showsArtifact({ ...artifact, isKept: true }, job),
  }),
  mutant(43, "artifacts are shown while their job runs", {
    showsArtifact: ({ isKept, fence }, job) => isKept === true && job.fence === fence,
  }),
  mutant(43, "artifacts of a lease without a result are shown", {
    showsArtifact: ({ isKept, fence }, { fence: last, status }) =>
      isKept === true && last === fence && (status === "succeeded" || status === "failed"),
  }),
  mutant(43, "artifacts of a canceled job are shown", {
    showsArtifact: ({ isKept, fence }, job) => isKept === true && job.fence === fence && job.result !== null,
  }),
  mutant(43, "no artifact is shown", { showsArtifact: () => false }),
  mutant(
    43,
    "an artifact of an earlier lease is continued",
    planted("queue/commands/artifacts.ts", "one.fence === fence", "true"),
  ),
  ...[...JOB_MUTANTS, ...TRY_MUTANTS, ...STRANGER_MUTANTS, ...PAUSE_MUTANTS].map(([breaks, name, rules]) =>
    mutant(breaks, name, rules),
  ),
];
