import { type BuildCost, CountedService } from "./counted-builds.ts";
import { type Counts, nothing } from "./counts.ts";
import { idleHour } from "./idle-hour.ts";
import { leaveArtifact, leaveTests } from "./left-behind.ts";
import { inParallel } from "./waiters.ts";

const SAMPLE = 20;
/** Seconds between two polls of an agent with an open socket. */
const LOOK_SECONDS = 600;
/** Builds over which the bytes in D1 are measured: one page of it is shared by several. */
const STORED_SAMPLE = 300;
/** Builds that run at once in one organization. */
const CROWD = 20;
const BUILD_DAYS = 90;
/** Jobs of a build of several over which the cost of one is measured. */
const JOBS = 4;
/** Polls while D1 is away over which the cost of one is measured. */
const POLLS = 20;

/** What one run of the bench counted. */
export interface CostRun {
  build: BuildCost;
  withVariables: BuildCost;
  /** With 30 variables, for which the agent asks once it has read the file in the repository. */
  ofAFile: BuildCost;
  /** With the same: each job of a build of several, and what that build costs besides its jobs. */
  several: { job: Counts; plan: Counts };
  /** With 30 variables too, made by a push; its states go back to the git host. */
  ofAPush: BuildCost;
  /** One of many builds of an organization that run at once, with 30 variables. */
  inACrowd: Counts;
  /** A build whose log was sent four times a second. */
  oftenLogged: Counts;
  /** What a short build of one job costs besides, by what its agent sends; and an outage of D1. */
  besides: Record<string, Counts>;
  /** What retention costs for each build. */
  removal: Counts;
  /** Bytes of D1 for each build with 30 variables. */
  databaseBytes: number;
  /** Rows that the pool keeps of them after their retention. */
  rowsLeft: number;
  hours: { longPoll: Counts; socket: Counts; everyThreeSeconds: Counts };
}

/** What costs more than a build without. */
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
  return { ...ofJobs, "a delivery that waited": waited, "a poll in vain": await service.vainPollCost(tenant, POLLS) };
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

/** The costs of an agent if an object held its long poll, without the time in which this object is awake. */
export const heldPolls = (longPoll: Counts, polls: number): Counts => ({
  ...nothing(),
  requests: polls,
  objectCalls: { wait: polls },
  objectRowsWritten: longPoll.objectRowsWritten,
});
