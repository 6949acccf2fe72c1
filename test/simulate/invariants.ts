/**
 * What must always be true of the queue and its leases, by number: `must(5, ...)` throws a violation of number 5.
 * docs/invariants.md explains each one, and test/house/invariants.test.ts keeps both lists equal.
 */
export const INVARIANTS = {
  1: "One lease per build, one build per agent",
  2: "Fences only grow",
  3: "Only the current lease is obeyed",
  4: "An ended build never changes",
  5: "A lease ends early only for a reason",
  6: "Attempts are counted and limited",
  7: "One build per idempotency key, one number per build",
  8: "An unanswered poll gets the same lease again",
  9: "Finish is idempotent, and the first result stays",
  10: "A canceled build ends canceled",
  11: "The log has no gap and loses nothing",
  12: "The first eligible build is handed out",
  13: "Secrets leave only with a lease and an audit entry",
  14: "Everything in a job is of one organization",
  15: "A removed agent is obeyed no more",
  16: "No build is lost, and D1 catches up",
  17: "Every build ends once faults stop",
  18: "What is deleted stays deleted",
  19: "A push makes one build, however often it is told",
  20: "Superseding never ends the newest head",
  21: "Git hosts hear how each build ended",
} as const;

export type Invariant = keyof typeof INVARIANTS;
