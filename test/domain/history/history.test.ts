import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addUp,
  dayStart,
  daysOfWeek,
  type EndedBuild,
  HISTORY_SIZE,
  type History,
  keptSince,
  NO_HISTORY,
  percentile,
  redSince,
  rollUp,
} from "../../../src/domain/history/history.ts";
import { firstIdAt, timeOfId } from "../../../src/domain/id-range.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 22, 5, 7);

const build = fc
  .record({
    at: fc.integer({ min: NOW - 20 * DAY_MS, max: NOW }),
    waited: fc.option(fc.integer({ min: 0, max: 3_600_000 })),
    took: fc.integer({ min: 0, max: 3 * DAY_MS }),
    status: fc.constantFrom("succeeded" as const, "failed" as const, "canceled" as const),
    isFlaky: fc.boolean(),
  })
  .map(
    ({ at, waited, took, status, isFlaky }): EndedBuild => ({
      ...{ id: firstIdAt(at), number: 1, ref: "refs/heads/main", subject: null, author: null, status, isFlaky },
      ...{ queuedAt: at, startedAt: waited === null ? null : at + waited, finishedAt: at + (waited ?? 0) + took },
    }),
  );
const someBuilds = fc.uniqueArray(build, { selector: ({ id }) => id, maxLength: 80 });

/** Returns the builds of a period, as the rows of D1 have them. */
const since = (builds: EndedBuild[], from: number) => builds.filter(({ id }) => timeOfId(id) >= from);
const whole = (builds: EndedBuild[]): History => rollUp(NO_HISTORY, 0, builds, NOW);

describe("counting a pipeline's builds", () => {
  it("gives the same result however often, and in whatever parts, days are recounted", () => {
    fc.assert(
      fc.property(someBuilds, fc.array(fc.nat(20), { maxLength: 6 }), (builds, daysAgo) => {
        let history = whole(builds.slice(0, builds.length / 2));
        for (const ago of daysAgo)
          history = rollUp(history, dayStart(NOW - ago * DAY_MS), since(builds, dayStart(NOW - ago * DAY_MS)), NOW);
        const from = dayStart(NOW - 20 * DAY_MS);
        const once = rollUp(history, from, since(builds, from), NOW);
        expect(once).toEqual(whole(builds));
        expect(rollUp(once, dayStart(NOW), since(builds, dayStart(NOW)), NOW)).toEqual(once);
      }),
    );
  });

  it("counts each build of the retained days in one day, and keeps the newest builds", () => {
    fc.assert(
      fc.property(someBuilds, (builds) => {
        const { days, builds: kept } = whole(builds);
        const counted = Object.values(days).reduce((sum, day) => sum + day.succeeded + day.failed + day.canceled, 0);
        expect(counted).toBe(since(builds, keptSince(NOW)).length);
        expect(Object.keys(days).length).toBeLessThanOrEqual(HISTORY_SIZE.days);
        expect(kept.map(({ id }) => id)).toEqual(
          builds
            .map(({ id }) => id)
            .toSorted()
            .toReversed()
            .slice(0, HISTORY_SIZE.builds),
        );
      }),
    );
  });

  it("separates the two weeks of retained days, as counting by hand does", () => {
    fc.assert(
      fc.property(someBuilds, (builds) => {
        const history = whole(builds);
        for (const ago of [0, 1]) {
          const until = dayStart(NOW) + DAY_MS - ago * 7 * DAY_MS;
          const ofWeek = builds.filter(({ id }) => timeOfId(id) < until && timeOfId(id) >= until - 7 * DAY_MS);
          const week = addUp(daysOfWeek(history, NOW, ago));
          expect([week.succeeded, week.failed, week.canceled, week.flaky]).toEqual([
            ofWeek.filter(({ status }) => status === "succeeded").length,
            ofWeek.filter(({ status }) => status === "failed").length,
            ofWeek.filter(({ status }) => status === "canceled").length,
            ofWeek.filter(({ status, isFlaky }) => status === "succeeded" && isFlaky).length,
          ]);
          const waits = ofWeek.flatMap(({ queuedAt, startedAt }) => (startedAt === null ? [] : [startedAt - queuedAt]));
          const nearest = waits.toSorted((a, b) => a - b)[Math.ceil(waits.length / 2) - 1];
          if (nearest === undefined) expect(week.waitedP50).toBe(null);
          else expect(Math.abs(week.waitedP50! - nearest)).toBeLessThanOrEqual(nearest * 0.045 + 1);
        }
      }),
    );
  });

  it("finds the first failed build of one ref, whatever happened on others", () => {
    const one = (status: EndedBuild["status"], minute: number, ref = "refs/heads/main"): EndedBuild => ({
      ...{ id: firstIdAt(NOW + minute * 60_000), number: minute, ref, status, isFlaky: false },
      ...{ subject: null, author: null, queuedAt: NOW, startedAt: null, finishedAt: NOW },
    });
    const since = (...builds: EndedBuild[]) => redSince(whole(builds), "refs/heads/main")?.first.number;
    expect(since(one("succeeded", 1), one("failed", 2), one("canceled", 3))).toBe(2);
    expect(since(one("failed", 1), one("succeeded", 2, "refs/tags/v1"))).toBe(1);
    expect(since(one("failed", 1), one("succeeded", 2), one("failed", 3, "refs/tags/v1"))).toBe(undefined);
    expect([redSince(NO_HISTORY, "refs/heads/main"), percentile({}, 0.9)]).toEqual([null, null]);
  });
});
