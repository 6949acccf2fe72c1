import { type BuildStatus, isEnded } from "../../../src/protocol/build-states.ts";
import type { Day, ListedBuild, Sample } from "./day.ts";
import type { Promised } from "./hosted.ts";
import { HOUR, MINUTE } from "./plan.ts";

const MOST_HEAP = 100 * 1024 * 1024;
/** Entries in transit on every working day. They are not a backlog. */
const ON_THEIR_WAY = 20;
/** Names that an upkeep run reports when it runs a chore, and the minutes between two runs of that chore. */
const PERIODS: Record<string, number> = { archived: 10, cache: 60, reconciled: 60, recounted: 60 };
/** Chores with a period. Upkeep sets them aside under their own names. */
const NAMED = ["removeArchived", "removeUnusedCache", "reconcileBuilds", "recountHistories"];

/** A day's results. `wrong` has a sentence for each problem. */
export interface Findings {
  builds: {
    wanted: number;
    made: number;
    ended: number;
    lost: number;
    overtaken: number;
    doubled: number;
    withoutRecord: number;
  };
  loop: { asked: number; made: number; refused: Record<string, number> };
  deadLetters: Record<string, number>;
  /** Commits whose last state at the host is not an end, and pushes that the service did not accept. */
  untold: number;
  refusedPushes: number;
  /** Longest minutes between two runs of each chore, not counting the faults. */
  gaps: Record<string, { period: number; gap: number }>;
  /** Minutes after each fault's end until nothing waited. */
  drained: Record<string, number | null>;
  heap: number;
  wrong: string[];
}

const tally = <T>(values: Iterable<T>): Map<T, number> => {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

const sum = (numbers: number[]): number => numbers.reduce((total, one) => total + one, 0);

/**
 * Returns pushes that waited until the service had accepted a newer one to their branch. The service does not build a
 * head that another one certainly replaced before it arrived.
 */
const overtakenOf = ({ host, plan, midnight }: Day, made: ReadonlyMap<string | null, number>): Promised[] => {
  const ends = plan.faults.filter(({ part }) => part === "DB").map(({ until }) => midnight + until);
  const wasTaken = (older: Promised) => (newer: Promised) =>
    newer.repositoryId === older.repositoryId && !newer.waits && newer.at > older.at && newer.at < Math.max(...ends);
  const pushes = host.promised.filter(({ isPull }) => !isPull);
  return pushes.filter((one) => one.waits && !made.has(one.sha) && pushes.some(wasTaken(one)));
};

const madeOf = (rows: ListedBuild[]): Map<string | null, number> =>
  tally(rows.filter(({ orgId }) => orgId === "acme").map(({ commitSha }) => commitSha));

const buildsOf = async (day: Day, rows: ListedBuild[], overtaken: Promised[]): Promise<Findings["builds"]> => {
  const ended = rows.filter(({ status }) => isEnded(status as BuildStatus));
  const made = madeOf(rows);
  const ids = new Set(ended.map(({ id }) => id));
  const promised = day.host.promised.filter((one) => !overtaken.includes(one));
  const missing = sum(promised.map(({ sha, builds }) => Math.max(0, builds - (made.get(sha) ?? 0))));
  const byPeople = day.traffic.people.made.filter((id) => !ids.has(id)).length;
  const byLoop = day.traffic.loop.made - rows.filter(({ orgId }) => orgId === "loop").length;
  const open = rows.length - ended.length;
  const records = await day.records();
  return {
    wanted: sum(promised.map(({ builds }) => builds)) + day.traffic.people.made.length + day.traffic.loop.made,
    made: rows.length,
    ended: ended.length,
    lost: missing + byPeople + byLoop + open,
    overtaken: sum(overtaken.map(({ builds }) => builds)),
    doubled: sum(promised.map(({ sha, builds }) => Math.max(0, (made.get(sha) ?? 0) - builds))),
    withoutRecord: ended.filter(({ id }) => !records.has(id)).length,
  };
};

/** Counts the commits with a context whose last state is not an end. */
const untoldOf = ({ host }: Day, overtaken: Promised[]): number => {
  const last = new Map<string, string>();
  for (const { sha, body } of host.host.place.statuses) last.set(`${sha} ${body.context}`, String(body.state));
  const open = new Set([...last].filter(([, state]) => state === "pending").map(([key]) => key.split(" ")[0]!));
  const heard = new Set([...last.keys()].map((key) => key.split(" ")[0]!));
  return host.promised.filter((one) => !overtaken.includes(one) && (open.has(one.sha) || !heard.has(one.sha))).length;
};

/** Returns the minutes between two times, without those in which part of the platform was unavailable. */
const minutesOf = ({ plan, midnight }: Day, from: number, until: number): number => {
  const outages = plan.faults;
  const away = outages.map((one) =>
    Math.max(0, Math.min(until, midnight + one.until) - Math.max(from, midnight + one.from)),
  );
  return (until - from - sum(away)) / MINUTE;
};

const longestOf = (day: Day, times: number[]): number => {
  const { plan, midnight } = day;
  const all = [midnight + plan.from, ...times, midnight + plan.until];
  return Math.max(...all.slice(1).map((at, n) => minutesOf(day, all[n]!, at)));
};

const gapsOf = (day: Day): Findings["gaps"] => {
  const { upkeep } = day.last;
  const gaps = Object.entries(PERIODS).map(([name, period]) => {
    const times = upkeep.filter(({ done }) => name in done).map(({ at }) => at);
    return [name, { period, gap: longestOf(day, times) }] as const;
  });
  const ok = day.crons.filter((cron) => cron.ok);
  const aside = new Set(ok.flatMap((cron) => cron.aside));
  const ofEach = ["every other chore", ...aside]
    .filter((name) => !NAMED.includes(name))
    .map((name) => {
      const times = ok.filter((cron) => !cron.aside.includes(name)).map(({ at }) => at);
      return [name, { period: 1, gap: longestOf(day, times) }] as const;
    });
  return Object.fromEntries([...gaps, ...ofEach]);
};

const isDrained = ({ outbox, kept }: Sample): boolean => outbox <= ON_THEIR_WAY && kept === 0;

const drainedOf = ({ plan, samples }: Day): Findings["drained"] =>
  Object.fromEntries(
    plan.faults.map(({ part, until }) => {
      const at = samples.find((sample) => sample.at >= until && isDrained(sample))?.at;
      return [part, at === undefined ? null : (at - until) / MINUTE];
    }),
  );

const deadLettersOf = ({ last }: Day): Record<string, number> =>
  Object.fromEntries(tally(last.pools.flatMap(({ deadLetters }) => deadLetters)));

export const find = async (day: Day): Promise<Findings> => {
  const { lost: refused } = day.host;
  const rows = await day.listed();
  const overtaken = overtakenOf(day, madeOf(rows));
  const found = {
    builds: await buildsOf(day, rows, overtaken),
    loop: day.traffic.loop,
    deadLetters: deadLettersOf(day),
    untold: untoldOf(day, overtaken),
    refusedPushes: refused.length,
    gaps: gapsOf(day),
    drained: drainedOf(day),
    heap: Math.max(...day.samples.map(({ heap }) => heap)),
  };
  return { ...found, wrong: wrongIn(day, found) };
};

const wrongIn = ({ plan, samples }: Day, found: Omit<Findings, "wrong">): string[] => {
  const { builds, deadLetters, untold, refusedPushes, gaps, heap } = found;
  const lastFault = Math.max(...plan.faults.map(({ until }) => until));
  const late = samples.filter(({ at }) => at >= lastFault + HOUR && at < plan.until);
  return [
    builds.lost > 0 && `${builds.lost} builds were lost`,
    builds.doubled > 0 && `${builds.doubled} builds were created twice`,
    builds.withoutRecord > 0 && `${builds.withoutRecord} builds have no record in the archive`,
    Object.keys(deadLetters).length > 0 && `dead letters: ${JSON.stringify(deadLetters)}`,
    refusedPushes > 0 && `${refusedPushes} deliveries were rejected`,
    untold > 0 && `the host lacks the final status of ${untold} commits`,
    ...Object.entries(gaps).map(
      ([name, { period, gap }]) => gap > 2 * period && `${name} did not run for ${gap} minutes`,
    ),
    !late.some(isDrained) && "delayed statuses had not reached the host an hour after the last fault",
    heap > MOST_HEAP && `the heap was ${Math.round(heap / 2 ** 20)} MB`,
  ].filter((one) => one !== false);
};

/** Returns each hour's largest values. */
const hoursOf = ({ samples, plan }: Day) => {
  const hours = [];
  for (let from = plan.from; from < plan.until; from += HOUR) {
    const own = samples.filter(({ at }) => at >= from && at < from + HOUR);
    const most = (of: (sample: Sample) => number) => Math.max(0, ...own.map(of));
    hours.push({
      hour: from / HOUR,
      waiting: most(({ waiting }) => waiting),
      running: most(({ running }) => running),
      outbox: most(({ outbox }) => outbox),
      states: most(({ states }) => states),
      kept: most(({ kept }) => kept),
      logs: most(({ logs }) => logs),
      "heap MB": Math.round(most(({ heap }) => heap) / 2 ** 20),
    });
  }
  return hours;
};

export const print = (day: Day, found: Findings): void => {
  console.table(hoursOf(day));
  console.dir({ ...found, fleet: day.fleet, pages: day.traffic.people.pages }, { depth: 5 });
  const { counts, failed, troubles } = day.last;
  console.dir({ counts, failed, troubles }, { depth: 3 });
  console.log(found.wrong.length === 0 ? "nothing lost, nothing late" : found.wrong.join("\n"));
};
