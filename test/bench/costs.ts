import { join } from "node:path";
import { unstable_readConfig as readWranglerConfig } from "wrangler";
import { ROOT } from "../../src/local/service.ts";
import { countCosts, heldPolls } from "./support/cost-run.ts";
import { RELEASE_BEFORE } from "./support/costs-before.ts";
import { billedCalls, type Counts, invocationsOf, sum, times, totalOf } from "./support/counts.ts";
import { POLLS_AN_HOUR } from "./support/idle-hour.ts";
import { dollars, rounded, table } from "./support/markdown-table.ts";
import { bill, dollarsStored, HOURS_A_MONTH, objectAwake, total } from "./support/prices.ts";
import { BUILD_SECONDS } from "./support/typical-build.ts";

/* Prints the tables in docs/costs.md: counts the running service's operations and multiplies by the list prices. */

const SIZES = [10, 1_000, 100_000];
const AGENTS_AN_ORGANIZATION = 1_000;
const BUILDS_A_MONTH = (HOURS_A_MONTH * 3600) / BUILD_SECONDS;
const KEPT_DAYS = 90;

const { observability } = readWranglerConfig({ config: join(ROOT, "wrangler.toml") });
const hasInvocationLogs = observability?.logs?.invocation_logs ?? true;

const run = await countCosts();
const { longPoll, socket, everyThreeSeconds } = run.hours;

const monthly = (hour: Counts) => (agents: number) => agents * HOURS_A_MONTH * total(bill(hour, hasInvocationLogs));
const poolsOf = (agents: number) => Math.ceil(agents / AGENTS_AN_ORGANIZATION);
const awakeMonth = objectAwake(HOURS_A_MONTH * 3600);
const held = heldPolls(longPoll, POLLS_AN_HOUR);

/** Returns a month's dollars by billed item, for one agent that builds without a pause. */
const busyMonth = (build: Counts): Record<string, number> => {
  const kept =
    dollarsStored(run.databaseBytes, KEPT_DAYS, "d1") + dollarsStored(build.archiveBytes, KEPT_DAYS, "archive");
  return {
    ...bill(times(sum(build, run.removal), BUILDS_A_MONTH), hasInvocationLogs),
    "storage for 90 days": kept * BUILDS_A_MONTH,
  };
};
const busy = (build: Counts) => (agents: number) => agents * total(busyMonth(build));

const WAYS: [name: string, dollars: (agents: number) => number][] = [
  ["idle, WebSocket alone", () => 0],
  ["idle, the agent: WebSocket and a poll every 10 min", monthly(socket)],
  ["idle, long poll of 50 s", monthly(longPoll)],
  ["idle, if the pool held each poll", (agents) => monthly(held)(agents) + poolsOf(agents) * awakeMonth],
  ["idle, if an object for each agent held it", (agents) => monthly(held)(agents) + agents * awakeMonth],
  ["idle, if it polled every 3 s", monthly(everyThreeSeconds)],
  ["busy without a pause", busy(run.build.counts)],
  ["busy, 30 variables", busy(run.withVariables.counts)],
  ["busy, 30 variables, 20 agents at once in an organization", busy(run.inACrowd)],
  ["busy, 30 variables, the file in the repository", busy(run.ofAFile.counts)],
  ["busy, 30 variables, with planned jobs", busy(run.several.job)],
  ["busy, if a log were sent four times a second", busy(run.oftenLogged)],
];

const print = (title: string, head: string[], rows: string[][]): void =>
  console.log(`${title}:\n\n${table(head, rows)}\n`);

print(
  "Dollars a month",
  ["way", ...SIZES.map((count) => `${count.toLocaleString("en-US")} agents`)],
  WAYS.map(([name, of]) => [name, ...SIZES.map((size) => dollars(of(size)))]),
);

const COUNTED: [name: string, of: (counts: Counts) => number][] = [
  ["requests to the Worker", ({ requests }) => requests],
  ["calls of objects", billedCalls],
  ["rows read in objects", ({ objectRowsRead }) => objectRowsRead],
  ["rows written in objects", ({ objectRowsWritten }) => totalOf(objectRowsWritten)],
  ["rounds to D1", ({ d1Rounds }) => d1Rounds],
  ["rows read in D1", ({ d1RowsRead }) => d1RowsRead],
  ["rows written in D1", ({ d1RowsWritten }) => totalOf(d1RowsWritten)],
  ["writes to R2", ({ archiveWrites }) => archiveWrites],
  ["reads from R2", ({ archiveReads }) => archiveReads],
  ["bytes to R2", ({ archiveBytes }) => archiveBytes],
  ["lines of the service's log", ({ lines }) => lines],
];
const { build, withVariables, ofAFile, several, ofAPush, inACrowd, removal } = run;
const printCounted = (title: string, columns: Record<string, Counts>): void =>
  print(
    title,
    ["", ...Object.keys(columns)],
    COUNTED.map(([name, of]) => [name, ...Object.values(columns).map((counts) => rounded(of(counts)))]),
  );
printCounted("Counted", {
  "hour by long poll": longPoll,
  "hour by WebSocket": socket,
  "hour of polling every 3 s": everyThreeSeconds,
  "a build": build.counts,
  "30 variables": withVariables.counts,
  "of a push": ofAPush.counts,
  "of 20 at once": inACrowd,
  "its removal": removal,
});
printCounted("Counted, with 30 variables, by the file's place", {
  "in the pipeline's record": withVariables.counts,
  "in the repository": ofAFile.counts,
  "a planned job": several.job,
  "planning them": several.plan,
});
printCounted("Counted, in addition to a plain build", run.besides);

const { d1RowsWritten } = withVariables.counts;
/** Returns the rows that a build writes, by table. */
const writtenBy = (counts: Counts): Record<string, number> => ({
  ...counts.objectRowsWritten,
  ...Object.fromEntries(Object.entries(counts.d1RowsWritten).map(([name, rows]) => [`D1 ${name}`, rows])),
});
const written = [RELEASE_BEFORE.rowsWritten, writtenBy(withVariables.counts), writtenBy(ofAPush.counts)];
const tables = [...new Set(written.flatMap(Object.keys))].sort();
print(
  "Rows that a build with 30 variables writes, by table",
  ["", RELEASE_BEFORE.version, "now", "of a push"],
  tables.map((name) => [name, ...written.map((rows) => rounded(rows[name] ?? 0))]),
);
const calledBy = [withVariables.counts, ofAPush.counts].map(({ objectCalls }) => objectCalls);
print(
  "Object calls in that build",
  ["", "30 variables", "of a push"],
  [...new Set(calledBy.flatMap(Object.keys))]
    .sort()
    .map((name) => [name, ...calledBy.map((calls) => rounded(calls[name] ?? 0))]),
);

const events = (counts: Counts) => counts.lines + (hasInvocationLogs ? invocationsOf(counts) : 0);
const month = busyMonth(run.build.counts);
const monthWithVariables = busyMonth(withVariables.counts);
const crowdedMonth = busyMonth(inACrowd);
print(
  "Dollars a month for 1,000 busy agents, by price",
  ["", "no variables", "30 variables", "30 variables, 20 at once"],
  [...Object.keys(month), "sum"].map((name) => {
    const of = (items: Record<string, number>) => dollars(1_000 * (name === "sum" ? total(items) : items[name]!));
    return [name, of(month), of(monthWithVariables), of(crowdedMonth)];
  }),
);

const now: Record<keyof typeof RELEASE_BEFORE.figures, number> = {
  "requests to the Worker": run.build.counts.requests,
  "calls of objects": billedCalls(run.build.counts),
  "rows written in objects": totalOf(run.build.counts.objectRowsWritten),
  "calls of objects, 20 at once": billedCalls(inACrowd),
  "rows written in objects, 20 at once": totalOf(inACrowd.objectRowsWritten),
  "rows written in D1, no variables": totalOf(run.build.counts.d1RowsWritten),
  "rows written in D1, 30 variables": totalOf(d1RowsWritten),
  "events of the platform's log": events(run.build.counts),
  "bytes of D1, 30 variables": run.databaseBytes,
  "bytes in the object of its log, in the end": run.build.objectBytes,
  "rows in the pool, in the end": run.rowsLeft,
  "dollars a month, 1,000 busy agents": busy(run.build.counts)(1_000),
  "dollars a month, 1,000 busy agents, 30 variables": busy(run.withVariables.counts)(1_000),
  "dollars a month, 1,000 busy agents, 30 variables, 20 at once": busy(inACrowd)(1_000),
  "dollars a month, 1,000 idle agents": monthly(socket)(1_000),
};
print(
  "The way down: a build of five minutes",
  ["", RELEASE_BEFORE.version, "now", "goal"],
  Object.entries(RELEASE_BEFORE.figures).map(([name, { before, goal }]) => [
    name,
    before === null ? "" : rounded(before),
    rounded(now[name as keyof typeof now]),
    goal === null ? "" : `<= ${rounded(goal)}`,
  ]),
);
