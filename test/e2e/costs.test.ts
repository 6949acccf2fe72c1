import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuildCost, CountedService, type CountedTenant } from "../bench/support/counted-builds.ts";
import { billedCalls, type Counts, totalOf } from "../bench/support/counts.ts";
import { countedWhile, waitUntilIdle } from "../bench/support/idle-hour.ts";
import type { PlayedPushes } from "../bench/support/played-pushes.ts";
import { typicalBuilds } from "../bench/support/typical-build.ts";
import { inParallel } from "../bench/support/waiters.ts";
import { deliver } from "../support/local/git-host/deliveries.ts";

const VARIABLES = 30;
const FORGED = 100;

let service: CountedService;
let build: BuildCost;
let ofAFile: BuildCost;
let several: Awaited<ReturnType<CountedService["severalCost"]>>;
let connected: BuildCost;
let tenant: CountedTenant;
let pushes: PlayedPushes;

beforeAll(async () => {
  service = await CountedService.start();
  build = await service.buildCost(await service.tenant("acme", VARIABLES));
  const read = await service.tenant("read", VARIABLES, null);
  ofAFile = await service.buildCost(read);
  several = await service.severalCost(read, 2);
  const made = await service.connectedTenant("connected", VARIABLES);
  ({ pushes } = made);
  tenant = made;
  connected = await service.buildCost(tenant);
});
afterAll(() => service?.stop());

/** Returns the states that the host received for a commit and context, in order of arrival. */
const toldOf = (sha: string, context: string): unknown[] =>
  pushes.host.place.statuses
    .filter((one) => one.sha === sha && one.body.context === context)
    .map(({ body }) => body.state);

/* `npm run bench -- costs` prints the same figures. docs/costs.md explains them. */
/** Drops the pool's alarms: their number in a build depends on the clock. */
const steady = (counts: Counts): Counts => {
  const without = ({ "pool alarm": _, ...rest }: Record<string, number>) => rest;
  return {
    ...counts,
    objectCalls: without(counts.objectCalls),
    objectRowsWritten: without(counts.objectRowsWritten),
  };
};

describe("a build of five minutes with 30 variables", () => {
  it("costs no more requests, calls and rows than today", () => {
    const { counts } = build;
    expect(counts.requests).toBeLessThanOrEqual(19);
    expect(Math.round(billedCalls(counts))).toBeLessThanOrEqual(32);
    expect(totalOf(counts.objectRowsWritten)).toBeLessThanOrEqual(31);
    expect(totalOf(counts.d1RowsWritten)).toBeLessThanOrEqual(15);
    expect(counts.archiveWrites).toBe(2);
    expect(counts.lines).toBeLessThanOrEqual(2);
  });

  it("leaves nothing in its log's object", () => {
    expect(build.objectBytes).toBe(0);
  });
});

describe("the same build with a file in the repository, which its agent reads before the variables", () => {
  it("costs no more requests, and at most one row for the masks, two object calls and one D1 round trip", () => {
    const [counts, before] = [steady(ofAFile.counts), steady(build.counts)];
    const seen = JSON.stringify({ before, counts }, null, 1);
    expect(counts.requests, seen).toBeLessThanOrEqual(before.requests);
    expect(Math.round(billedCalls(counts) - billedCalls(before)), seen).toBeLessThanOrEqual(2);
    expect(totalOf(counts.objectRowsWritten), seen).toBeLessThanOrEqual(totalOf(before.objectRowsWritten) + 1);
    expect(totalOf(counts.d1RowsWritten), seen).toBeLessThanOrEqual(totalOf(before.d1RowsWritten));
    expect(counts.d1Rounds - before.d1Rounds, seen).toBeLessThanOrEqual(1);
  });
});

describe("one job of a build with several jobs", () => {
  it("costs no more than a build with one job", () => {
    const [job, before] = [steady(several.job), steady(build.counts)];
    const seen = JSON.stringify({ before, job }, null, 1);
    expect(Math.round(job.requests), seen).toBeLessThanOrEqual(before.requests);
    expect(Math.round(billedCalls(job)), seen).toBeLessThanOrEqual(Math.round(billedCalls(before)));
    expect(Math.round(totalOf(job.objectRowsWritten)), seen).toBeLessThanOrEqual(totalOf(before.objectRowsWritten));
    expect(Math.round(totalOf(job.d1RowsWritten)), seen).toBeLessThanOrEqual(totalOf(before.d1RowsWritten));
  });

  it("leaves six requests for planning all jobs", () => {
    expect(Math.round(several.plan.requests)).toBeLessThanOrEqual(6);
    expect(Math.round(billedCalls(several.plan))).toBeLessThanOrEqual(16);
    expect(Math.round(totalOf(several.plan.objectRowsWritten))).toBeLessThanOrEqual(36);
  });
});

describe("a build of a push that reports its states to the git host", () => {
  const more = (of: (counts: Counts) => number): number => of(steady(connected.counts)) - of(steady(build.counts));

  it("costs at most five more object calls and twelve more rows in objects", () => {
    const counted = { before: build.counts, now: connected.counts };
    expect(Math.round(more(billedCalls)), JSON.stringify(counted, null, 1)).toBeLessThanOrEqual(5);
    expect(
      more(({ objectRowsWritten }) => totalOf(objectRowsWritten)),
      JSON.stringify(counted, null, 1),
    ).toBeLessThanOrEqual(12);
    expect(more(({ requests }) => requests)).toBe(0);
    expect(more(({ d1RowsWritten }) => totalOf(d1RowsWritten))).toBeLessThanOrEqual(2);
  });

  it("reported to the host that it waits, that it succeeded, and that the whole commit succeeded", () => {
    for (const sha of new Set(pushes.host.place.statuses.map((status) => status.sha))) {
      expect(toldOf(sha, "millrace/ci")).toEqual(["pending", "success"]);
      expect(toldOf(sha, "millrace")).toEqual(["success"]);
    }
    expect(pushes.host.requests.flatMap(({ problems }) => problems)).toEqual([]);
  });
});

describe("a git host that is unavailable for an hour", () => {
  it("gets requests ever less often, and the build's result when it is back", async () => {
    pushes.host.requests.length = 0;
    pushes.host.settings.faults = [{ on: "POST", answer: 502 }];
    const { trigger, agent, socket } = tenant;
    await typicalBuilds(service.http, { trigger, crowd: [{ agent, socket }] });
    await service.settle(3_600);
    expect(pushes.host.requests.length).toBeGreaterThan(3);
    expect(pushes.host.requests.length).toBeLessThan(100);
    expect(toldOf(pushes.head, "millrace/ci")).toEqual([]);
    pushes.host.settings.faults = [];
    await service.settle(600);
    expect(toldOf(pushes.head, "millrace/ci")).toEqual(["success"]);
    expect(toldOf(pushes.head, "millrace")).toEqual(["success"]);
  });
});

describe("a delivery", () => {
  it("queries neither the database nor an object if it is forged", async () => {
    const counts = await countedWhile(service.http, () =>
      inParallel(FORGED, 50, async (n) => {
        const forged = pushes.delivery("a".repeat(40), "b".repeat(40), "another secret");
        if (n % 2) forged.hook.url = `${forged.hook.url.slice(0, -1)}_`;
        await deliver("github", forged);
        expect(forged.status).toBe(n % 2 ? 404 : 401);
      }),
    );
    expect(counts).toMatchObject({ requests: FORGED, objectCalls: {}, d1Rounds: 0, d1RowsRead: 0 });
  });

  it("queries the database and the pool once, and its host's object after the answer", async () => {
    await waitUntilIdle(service.http);
    const delivery = await pushes.push();
    await waitUntilIdle(service.http);
    // Redeliver the same event. It creates no build, so the service writes nothing to the database.
    const again = await countedWhile(service.http, async () => {
      await deliver("github", delivery);
      expect(delivery.status).toBe(202);
      await waitUntilIdle(service.http);
    });
    // The first delivery may have left an alarm.
    const { "host alarm": _, ...asked } = again.objectCalls;
    expect(asked).toEqual({ "pool arrive": 1, "host noteDelivery": 1 });
    expect(again.d1Rounds).toBe(1);
    expect(totalOf(again.d1RowsWritten)).toBe(0);
  });
});
