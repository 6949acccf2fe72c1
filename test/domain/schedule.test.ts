import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CronSchedule,
  lastRun,
  nextRun,
  nextRuns,
  readCron,
  SMALLEST_STEP_MINUTES,
  timeZoneProblem,
} from "../../src/domain/schedule.ts";
import { everyMinute } from "./every-minute.ts";

/** Times in UTC, derived from the calendar and from when clocks change there. */
const RUNS: [cron: string, timeZone: string, after: string, next: string[]][] = [
  ["40 7 * * *", "UTC", "2026-11-20T07:40Z", ["2026-11-21T07:40Z", "2026-11-22T07:40Z"]],
  ["*/20 22 * * *", "UTC", "2026-12-31T22:10Z", ["2026-12-31T22:20Z", "2026-12-31T22:40Z", "2027-01-01T22:00Z"]],
  ["10 6 * * 3", "UTC", "2026-11-23T00:00Z", ["2026-11-25T06:10Z", "2026-12-02T06:10Z"]],
  ["10 6 * * WED", "UTC", "2026-11-23T00:00Z", ["2026-11-25T06:10Z"]],
  ["5 0 1 * *", "UTC", "2026-11-23T00:00Z", ["2026-12-01T00:05Z", "2027-01-01T00:05Z"]],
  ["5 0 29 2 *", "UTC", "2026-11-23T00:00Z", ["2028-02-29T00:05Z"]],
  ["5 0 31 * *", "UTC", "2026-11-23T00:00Z", ["2026-12-31T00:05Z", "2027-01-31T00:05Z", "2027-03-31T00:05Z"]],
  // A day of the month or a day of the week: either is enough.
  ["0 4 25 * 1", "UTC", "2026-11-23T05:00Z", ["2026-11-25T04:00Z", "2026-11-30T04:00Z"]],
  // A day field that begins with `*` restricts instead of adding, as in cronie, robfig/cron and croniter.
  ["0 9 */1 * 1", "UTC", "2026-11-23T10:00Z", ["2026-11-30T09:00Z", "2026-12-07T09:00Z"]],
  ["0 0 */2 * 1", "UTC", "2025-01-01T00:00Z", ["2025-01-13T00:00Z", "2025-01-27T00:00Z"]],
  ["0 9 13 * */5", "UTC", "2026-11-23T00:00Z", ["2026-12-13T09:00Z", "2027-06-13T09:00Z"]],
  ["0 9 1-31 * 1", "UTC", "2026-11-23T10:00Z", ["2026-11-24T09:00Z", "2026-11-25T09:00Z"]],
  ["0 0 29 2 */7", "UTC", "2026-11-23T00:00Z", ["2032-02-29T00:00Z", "2060-02-29T00:00Z"]],
  // Half past two does not exist on the last Sunday of March: the first minute after the gap.
  ["30 2 * * *", "Europe/Paris", "2027-03-27T12:00Z", ["2027-03-28T01:00Z", "2027-03-29T00:30Z"]],
  // It exists twice on the last Sunday of October: run once, the first time.
  ["30 2 * * *", "Europe/Paris", "2027-10-30T12:00Z", ["2027-10-31T00:30Z", "2027-11-01T01:30Z"]],
  ["0 8 * * *", "America/Chicago", "2027-03-13T15:00Z", ["2027-03-14T13:00Z", "2027-03-15T13:00Z"]],
  ["45 23 * * *", "Asia/Kolkata", "2026-11-23T18:00Z", ["2026-11-23T18:15Z", "2026-11-24T18:15Z"]],
  ["0 0 1 jan *", "Pacific/Auckland", "2026-11-23T00:00Z", ["2026-12-31T11:00Z"]],
];
const REFUSED = [
  ...["", "5", "5 4 3 2", "5 4 3 2 1 0", "60 4 * * *", "5 24 * * *", "5 4 0 * *", "5 4 32 * *", "5 4 * 13 *"],
  ...["5 4 * * 8", "x 4 * * *", "5 4 30 2 *", "@hourly", "5 4 * feb-x *", "*/0 4 * * *", "5-1 4 * * *"],
];
const HOUR = 3_600_000;

const iso = (time: number): string => new Date(time).toISOString().replace(":00.000Z", "Z");

describe("the known cases", () => {
  it.each(RUNS)("%s in %s after %s", (cron, timeZone, after, next) => {
    expect(nextRuns({ cron, timeZone }, Date.parse(after), next.length).map(iso)).toEqual(next);
  });

  it.each(REFUSED)("reject %j", (cron) => expect(readCron(cron)).toHaveProperty("problem"));

  it.each(["", "Mars/Olympus", "+25:00", "Berlin", "UTC\u0000"])("reject the zone %j", (zone) =>
    expect(timeZoneProblem(zone)).not.toBeNull(),
  );

  it.each(["UTC", "Europe/Berlin", "Etc/GMT+5", "America/Argentina/Buenos_Aires"])("accept the zone %s", (zone) => {
    expect(timeZoneProblem(zone)).toBeNull();
  });
});

describe("a cron line", () => {
  it.each([
    ["* * * * *", "There must be at least 5 minutes between two runs"],
    ["*/4 * * * *", "There must be at least 5 minutes between two runs"],
    ["0,58 * * * *", "There must be at least 5 minutes between two runs"],
    ["58,0 23,0 * * *", "There must be at least 5 minutes between two runs"],
    ["0 0 31 4,6,9,11 *", "This date never occurs: its months have fewer days"],
    ["0 0 31 4,6,9,11 */2", "This date never occurs: its months have fewer days"],
    ["@daily", "Write the five fields: minute, hour, day of the month, month, day of the week"],
    [" ".repeat(300), "A schedule must have at most 200 characters"],
  ])("%j is rejected: %s", (cron, problem) => expect(readCron(cron)).toEqual({ problem }));

  it.each([
    ["0,58 3 * * *", "0,58 3 * * *"],
    [" 0\t0 * jan,Feb-mar sat-Sun ", "0 0 * 1,2,3 6,7"],
    ["*/15 */6 * * *", "0,15,30,45 */6 * * *"],
    ["0 0 30 2 1", "0 0 30 2 1"],
    ["5-59/20 * * * *", "5,25,45 * * * *"],
  ])("%j is read as %j", (cron, line) => expect(readCron(cron)).toMatchObject({ line }));

  it("is valid or has a problem, and each valid one runs", () => {
    const word = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[0-9*,/LW#?A-Z-]{0,5}$/),
      fc.nat(70).map(String),
      fc.constant("*"),
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 4, maxLength: 6 }), fc.nat(4_000_000_000), (words, seconds) => {
        const cron = words.join(" ");
        if ("problem" in readCron(cron)) return;
        expect(nextRun({ cron, timeZone: "UTC" }, seconds * 1000)).toBeGreaterThan(seconds * 1000);
      }),
      { numRuns: 1000 },
    );
  });
});

const number = (from: number, to: number) => fc.integer({ min: from, max: to });
const field = (from: number, to: number) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant("*") },
    fc.uniqueArray(number(from, to), { minLength: 1, maxLength: 3 }).map((values) => values.join(",")),
    fc
      .tuple(number(from, to), number(from, to), number(1, 5))
      .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
    number(2, 8).map((step) => `*/${step}`),
  );
const cron = fc
  .tuple(
    fc.constantFrom("0", "30", "0,30", "*/15", "15-45/15", "59", "0,20,50"),
    field(0, 5),
    field(1, 31),
    fc.constant("*"),
    field(0, 7),
  )
  .map((fields) => fields.join(" "));

/** Days around a change of the clock, and others. */
const place = fc.constantFrom(
  ["Europe/Berlin", "2026-03-28T12:00Z"],
  ["Europe/Berlin", "2026-10-24T12:00Z"],
  ["America/New_York", "2026-03-07T20:00Z"],
  ["America/New_York", "2026-10-31T20:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T04:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T04:00Z"],
  ["Africa/Cairo", "2026-04-23T12:00Z"],
  ["America/Santiago", "2026-09-05T18:00Z"],
  ["Asia/Kathmandu", "2026-11-21T00:00Z"],
  ["UTC", "2028-02-28T00:00Z"],
);
const random = fc.tuple(cron, place, number(0, 24 * 60)).map(([line, [timeZone, from], minutes]) => ({
  schedule: { cron: line, timeZone: timeZone! },
  after: Date.parse(from!) + minutes * 60_000,
}));

/** Reports whether the times of the next 40 hours are those that testing every minute finds. */
const agrees = (
  { schedule, after }: { schedule: CronSchedule; after: number },
  rules?: Parameters<typeof everyMinute>[3],
) => {
  const expected = everyMinute(schedule, after, after + 40 * HOUR, rules);
  const times = nextRuns(schedule, after, expected.length + 1);
  return JSON.stringify(times.slice(0, -1)) === JSON.stringify(expected) && times.at(-1)! > after + 40 * HOUR;
};

describe("the next times", () => {
  it("are those that testing every minute finds", () => {
    fc.assert(
      fc.property(random, (one) => agrees(one)),
      { numRuns: 60 },
    );
  });

  it.each([
    ["a gap of the clock", { afterGaps: false, once: true }],
    ["an hour that occurs twice", { afterGaps: true, once: false }],
  ])("fail the test with a wrong rule for %s", (_, rules) => {
    expect(
      fc.check(
        fc.property(random, (one) => agrees(one, rules)),
        { numRuns: 2000, endOnFailure: true },
      ).failed,
    ).toBe(true);
  });

  it("are after now, each at least five minutes after the last, except at a change of the clock", () => {
    const utc = cron.map((line) => ({ cron: line, timeZone: "UTC" }));
    fc.assert(
      fc.property(utc, number(0, 2_000_000_000), (schedule, seconds) => {
        const [now, ...times] = [seconds * 1000, ...nextRuns(schedule, seconds * 1000, 5)] as [number, ...number[]];
        expect(times[0]).toBeGreaterThan(now);
        for (const [index, time] of times.slice(1).entries())
          expect(time - times[index]!).toBeGreaterThanOrEqual(SMALLEST_STEP_MINUTES * 60_000);
      }),
    );
  });
});

it("the last missed time is the one that testing every minute finds, after a minute and after weeks", () => {
  const minutes = fc.oneof(number(0, 3 * 60), number(0, 20 * 24 * 60));
  fc.assert(
    fc.property(random, minutes, ({ schedule, after }, missed) => {
      const first = nextRun(schedule, after);
      const until = first + missed * 60_000;
      const times = everyMinute(schedule, after, until);
      expect(lastRun(schedule, first, until)).toBe(times.at(-1));
    }),
    { numRuns: 30 },
  );
});
