import { RULES, type Rules } from "../../src/domain/pool/rules.ts";

/** A machine with one of its judgements wrong, and what that does. */
export interface Mutant {
  name: string;
  rules: Rules;
}

const wrong = (name: string, rules: Partial<Rules>): Mutant => ({ name, rules: { ...RULES, ...rules } });

/** Each must be seen by the checks within 1,000 histories, or they prove nothing. */
export const MUTANTS: readonly Mutant[] = [
  wrong("the fence is the build's id: any lease number will do", {
    holdsLease: ({ lease }, agentId) => lease?.agentId === agentId,
  }),
  wrong("the fence is the state: whoever speaks about a live build holds it", {
    holdsLease: ({ lease }) => lease !== null,
  }),
  wrong("the fence is the agent: whoever held it last holds it", {
    holdsLease: ({ lease, agentId }, who) => lease !== null && agentId === who,
  }),
  wrong("the fence without the agent: whoever knows the number holds the lease", {
    holdsLease: ({ lease }, _agentId, fence) => lease?.fence === fence,
  }),
  wrong("fences count from the last one on disk only", { nextFence: (last) => last + 1 }),
  wrong("fences are the time only", { nextFence: (_last, now) => now }),
  wrong("versions count from the last one on disk only", { nextVersion: (last) => last + 1 }),
  wrong("a lease ends ten seconds early", { leaseIsOver: (lease, now) => now >= lease.expiresAt - 10_000 }),
  wrong("a lease never ends", { leaseIsOver: () => false }),
  wrong("an outage of ours extends leases for ever", { mayGrace: () => true }),
  wrong("no cap on attempts", { hasAttemptLeft: () => true }),
  wrong("one attempt too many", { hasAttemptLeft: (job) => job.attempt <= job.maxAttempts }),
  wrong("no cap on leases that never start", { hasUnstartedLeft: () => true }),
  wrong("a lease that never started is not counted", { unstartedAfter: (job) => job.unstarted }),
  wrong("a hand-out taken back is counted", { unstartedAfter: (job) => job.unstarted + 1 }),
  wrong("a release uses up an attempt", { attemptAfterRelease: (job) => job.attempt }),
  wrong("a build goes to an agent that lacks what it asks for", { meets: () => true }),
  wrong("labels are not looked at", { meets: (agent, needs) => RULES.meets(agent, { ...needs, labels: [] }) }),
  wrong("the youngest build first", {
    comesFirst: (left, right) =>
      right.priority < left.priority || (right.priority === left.priority && right.seq < left.seq),
  }),
  wrong("priorities are not looked at", { comesFirst: (left, right) => left.seq < right.seq }),
  wrong("maxParallel lets one more in", { hasRoom: (live, most) => most === null || live <= most }),
  wrong("maxParallel keeps the last one out", { hasRoom: (live, most) => most === null || live < most - 1 }),
  wrong("a build that rests is handed out", { isDue: () => true }),
  wrong("a draining agent is given builds", {
    takesBuilds: (agent, now) => RULES.takesBuilds({ ...agent, isDraining: false }, now),
  }),
  wrong("an unresponsive agent is given builds", {
    takesBuilds: (agent, now) => RULES.takesBuilds({ ...agent, ignored: 0 }, now),
  }),
  wrong("a waiter that wakes without claiming keeps the build to itself", { offerIsOver: () => false }),
  wrong("nobody is alert enough to be woken", { isAlert: () => false }),
  wrong("an unanswered poll gets another build", { handsOutAgain: () => false }),
  wrong("a poll of a working agent hands its build out again", {
    handsOutAgain: (build) => build.status !== "canceling",
  }),
  wrong("a restarted agent keeps what it ran", { isRestart: () => false }),
  wrong("a late message of an earlier boot is a restart", {
    isRestart: (agent, bootId) => bootId !== null && bootId !== agent.bootId,
    isStale: () => false,
  }),
  wrong("any token opens any agent", { tokenFits: () => true }),
  wrong("secrets are delivered for a canceled build", { mayDeliver: () => true }),
  wrong("a canceled build may start", {
    mayStart: (build) => build.status === "assigned" || build.status === "canceling",
  }),
  wrong("a build may end before it started", { mayFinish: () => true }),
  wrong("a finish is accepted after the cancel", { ending: (_build, _job, reported) => reported }),
  wrong("another result is as good as the first", { isSameResult: () => true }),
  wrong("the same result again is refused", { isSameResult: () => false }),
  wrong("a cancel is forgotten", { mayCancel: () => false }),
  wrong("a build in an agent's hands cannot be canceled", { mayCancel: (build) => build.status === "queued" }),
  wrong("a heartbeat keeps a stopped build for ever", {
    extended: ({ expiresAt }, now, leaseMs) => Math.max(expiresAt, now + leaseMs),
  }),
  wrong("a heartbeat extends nothing", { extended: (lease) => lease.expiresAt }),
  wrong("nothing takes too long", { overtime: () => false }),
  wrong("the outbox forgets ends", {
    outbox: (build, at) => (build.status === "succeeded" ? [] : RULES.outbox(build, at)),
  }),
  wrong("the outbox forgets grants", {
    outbox: (build, at) => (build.status === "assigned" ? [] : RULES.outbox(build, at)),
  }),
  wrong("deliveries leave no audit", {
    audited: (change) => (change.entry.action === "build.deliver" ? [] : [change]),
  }),
  wrong("an agent that waits, or builds, is forgotten like a silent one", { signOfLife: (heardAt) => heardAt }),
  wrong("an agent is forgotten that was heard of since", { isForgotten: () => true }),
  wrong("a revoked token goes on registering agents", { mayRegister: () => true }),
  wrong("a build goes back to the agent that gave it back", { isNotFor: () => false }),
  wrong("a build is given back unfetched again and again", { mayGoElsewhere: () => true }),
  wrong("an agent is passed over though there is no other", { isWaitedFor: () => true }),
  wrong("nobody is tried after the first agent that cannot fetch", { isWaitedFor: () => false }),
  wrong("a removed agent keeps its build", { freedByRemoval: () => undefined }),
  wrong("builds of a repository share a number", {
    nextNumber: (records, repoId) => Math.max(1, records.lastNumber(repoId)),
  }),
  wrong("idempotency keys are not looked at", { keyStands: () => false }),
];
