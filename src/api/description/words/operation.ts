import type { Words } from "./schema-words.ts";

/** What the operator reads and does while the service runs. */
export const OPERATION: Words = {
  ServiceMetrics: {
    is: "The whole deployment at the last run of upkeep, for the people on call. Counts of events begin with the first run.",
    fields: {
      isUp: "true: upkeep completed a run within the last five minutes.",
      upkeep: "The state of upkeep itself.",
      "upkeep.lastRunAt": "When upkeep last completed a run; null if it never did.",
      "upkeep.ageSeconds": "Seconds since then; null if it never did.",
      "upkeep.setAside": "What upkeep could not do and tries again later.",
      "upkeep.setAside[].kind":
        "What it tried: chore, sweep, schedule, move, purge, removal or reconcile. New kinds may be added.",
      "upkeep.setAside[].count": "Number of subjects of this kind.",
      "upkeep.setAside[].mostTries": "How often the one of them that failed most was tried.",
      pools: "The pools: one for each organization.",
      "pools.swept": "Number of pools that were swept: those with active builds or news.",
      "pools.failed": "Number of pools whose sweep failed.",
      "pools.largestBytes": "Size of the largest pool's storage in bytes.",
      "pools.notable": "Pools that are furthest behind, 20 at most.",
      builds: "The builds of all organizations.",
      "builds.active": "Number of builds that have not ended.",
      "builds.waiting": "Number of builds that wait for an agent.",
      "builds.oldestWaitSeconds": "Seconds that the oldest of them has waited.",
      "builds.ended": "Number of builds that ended, for each status and reason.",
      "builds.ended[].status": "How they ended.",
      "builds.ended[].reason": "The reason; null if there is none.",
      "builds.ended[].count": "Number of such builds since the first run.",
      "builds.handOuts": "Number of builds that an agent received.",
      "builds.offersIgnored": "Number of times that a waiting agent did not take an offered build within 2 seconds.",
      "builds.requeues": "Number of times that a build went back into the queue.",
      stores: "The organizations that are nearest to the bytes that they may store, 20 at most, the nearest first.",
      organizations:
        "The organizations that are nearest to their limit of builds of a day, 20 at most, the nearest first.",
      leasesLost: "Number of leases that ended without a result.",
      "leasesLost.expired": "The agent was silent for too long.",
      "leasesLost.removed": "The agent was removed.",
      "leasesLost.restarted": "The agent was started again.",
      "leasesLost.stopped": "The agent did not confirm in time that it stopped.",
      outbox: "What the pools have not delivered yet.",
      "outbox.ageSeconds": "Age of the oldest change that has not been delivered.",
      "outbox.failures": "Attempts in a row of one pool that did not deliver everything.",
      "outbox.deadLetters": "Number of dead letters for each organization that has any.",
      database: "The D1 database.",
      "database.bytes": "Its size in bytes.",
      "database.limitBytes": "The size at which it is full.",
      "database.isNearlyFull": "true: it has 70 % of that size or more.",
      "database.rowsCountedAt": "When its rows were counted; null if they never were.",
      "database.rows": "Number of rows of each table that grows.",
    },
  },
  OrganizationStore: {
    is: "What an organization stores in the archive.",
    fields: {
      orgId: "Id of the organization.",
      storedBytes: "Bytes of its artifacts and caches.",
      mostStoredBytes: "Bytes that it may store.",
    },
  },
  OrganizationDay: {
    is: "What an organization made of its builds of today (UTC).",
    fields: {
      orgId: "Id of the organization.",
      buildsToday: "Builds that it made.",
      buildsPerDay: "Builds that it may make.",
    },
  },
  NotablePool: {
    is: "A pool that somebody may have to look at.",
    fields: {
      orgId: "Id of the organization.",
      waiting: "Number of its builds that wait for an agent.",
      oldestWaitSeconds: "Seconds that the oldest of them has waited.",
      outboxSeconds: "Age of its oldest change that has not been delivered.",
    },
  },
  DeadLetter: {
    is: "Something that a pool could not deliver or read, and set aside.",
    fields: {
      seq: "Its number.",
      what: "What it is about. It quotes nothing of the content.",
      reason: "Why it was set aside.",
      at: "When it was set aside; null if an older release did that.",
    },
  },
  DeadLetterRetry: {
    is: "Which dead letters to try again.",
    fields: {
      orgId: "Slug of the organization.",
      seqs: "Their numbers. Left out: those of the first page.",
    },
  },
  DeadLettersRetried: {
    is: "What became of them.",
    fields: { retried: "Number of dead letters that are on their way again." },
  },
};
