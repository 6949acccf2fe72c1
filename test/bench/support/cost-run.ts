import { type BuildCost, CountedService } from "./counted-builds.ts";
import { type Counts, nothing } from "./counts.ts";
import { idleHour } from "./idle-hour.ts";
import { leaveArtifact, leaveTests } from "./left-behind.ts";
import { inParallel } from "./waiters.ts";

const SAMPLE = 20;
/** Seconds between two polls by an agent with an open socket. */
const LOOK_SECONDS = 600;
/** Number of builds for the measurement of bytes in D1: several share one page. */
const STORED_SAMPLE = 300;
/** Number of builds that run at once in one organization. */
const CROWD = 20;
const BUILD_DAYS = 90;
/** Number of jobs for the measurement of one job's cost in a build with several. */
const JOBS = 4;
/** Number of polls while D1 is unavailable, for the measurement of one poll's cost. */
const POLLS = 20;

/** The counts from one run of the bench. */
export interface CostRun {
  build: BuildCost;
  withVariables: BuildCost;
  /** With 30 variables, which the agent requests after it has read the file in the repository. */
  ofAFile: BuildCost;
  /** With the same: each job in a build with several, and the build's other costs. */
  several: { job: Counts; plan: Counts };
  /** Also with 30 variables. A push creates the build, and its states go back to the git host. */
  ofAPush: BuildCost;
  /** One of many builds that run at once in an organization, with 30 variables. */
  inACrowd: Counts;
  /** A build whose agent sends the log four times a second. */
  oftenLogged: Counts;
  /** Additional costs of a short build with one job, by the data that its agent sends; and an outage of D1. */
  besides: Record<string, Counts>;
  /** Retention's cost for each build. */
  removal: Counts;
  /** Bytes in D1 for each build with 30 variables. */
  databaseBytes: number;
  /** Rows that the pool keeps for these builds after their retention. */
  rowsLeft: number;
  hours: { longPoll: Counts; socket: Counts; everyThreeSeconds: Counts };
}

/** Counts the costs of additional data, compared with a build without it. */
const countBesides = async (service: CountedService): Promise<Record<string, Counts>> => {
  const tenant = await service.tenant("besides", 0);
  const ofJobs = {
    "a report without failures": await service.leftCost(tenant, leaveTests(0)),
    "with 10 failures": await service.leftCost(tenant, leaveTests(10)),
    "with 500": await service.leftCost(tenant, leaveTests(500)),
    "an artifact of one part": await service.leftCost(tenant, leaveArtifact(1)),
    "of 3 parts": await service.leftCost(tenant, leaveArtifact(3)),
  };
  const waited = await service.keptCost(await service.connectedTenant("waited", 0));
  return {
    ...ofJobs,
    "a delayed delivery": waited,
    "a poll without a build": await service.vainPollCost(tenant, POLLS),
  };
};

export const countCosts = async (): Promise<CostRun> => {
  const service = await CountedService.start();
  try {
    const bare = await service.tenant("bare", 0);
    const full = await service.tenant("full", 30);
    const build = await service.buildCost(bare);
    const withVariables = await service.buildCost(full);
    const read = await service.tenant("read", 30, null);
    const ofAFile = await service.buildCost(read);
    const several = await service.severalCost(read, JOBS);
    const ofAPush = await service.buildCost(await service.connectedTenant("connected", 30));
    const inACrowd = await service.crowdCost(full, CROWD);
    const { counts: oftenLogged } = await service.buildCost(bare, 250);
    const idle = await inParallel(SAMPLE, SAMPLE, (n) => bare.register(`idle-${n}`));
    await service.settle(3_600);
    const longPoll = await idleHour(service.http, idle, 1);
    const everyThreeSeconds = await idleHour(service.http, idle, 0, 3);
    await Promise.all(idle.map((agent) => service.openSocket(agent)));
    const socket = await idleHour(service.http, idle, 0, LOOK_SECONDS);
    const databaseBytes = await service.databaseBytes(full, STORED_SAMPLE);
    const removal = await service.removalCost(BUILD_DAYS, STORED_SAMPLE);
    const rowsLeft = await service.rowsOfBuilds(full);
    const besides = await countBesides(service);
    const hours = { longPoll, socket, everyThreeSeconds };
    const builds = { build, withVariables, ofAFile, several, ofAPush, inACrowd, oftenLogged, besides };
    return { ...builds, removal, databaseBytes, rowsLeft, hours };
  } finally {
    await service.stop();
  }
};

/** Returns an agent's costs if an object held its long poll, without the time in which this object is awake. */
export const heldPolls = (longPoll: Counts, polls: number): Counts => ({
  ...nothing(),
  requests: polls,
  objectCalls: { wait: polls },
  objectRowsWritten: longPoll.objectRowsWritten,
});
