import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BUSY_POOLS_PER_SWEEP,
  isQuietTurn,
  POOLS_PER_SWEEP,
  QUIET_MINUTES,
  SWEEP_BEGIN,
  type SweepPlace,
  sweepSlice,
} from "../../src/domain/sweep-order.ts";

/** How the cron trigger of a minute arrives: normally, twice at once, a minute late, or never. */
const CRONS = ["once", "once", "once", "twice", "late", "none"] as const;
const KINDS = ["busy", "quiet", "changing"] as const;
type Kind = (typeof KINDS)[number];

/** Chooses the pools of one run. */
type Choose = (place: SweepPlace, busy: string[], quiet: string[], minute: number) => [string[], SweepPlace];

const choose: Choose = (place, busy, quiet, minute) => {
  const slice = sweepSlice(place, { busy, quiet: isQuietTurn(place, minute) ? quiet : [] }, minute);
  return [slice.names, slice.place];
};

/** The rule of 0.12.0 and earlier: slices by the minute, and quiet pools only in minutes divisible by 15. */
const chooseByMinute: Choose = (place, busy, quiet, minute) => {
  const due = minute % QUIET_MINUTES === 0 ? [...busy, ...quiet].sort() : busy;
  const begin = (minute % Math.max(1, Math.ceil(due.length / 250))) * 250;
  return [due.slice(begin, begin + 250), place];
};

interface History {
  kinds: Kind[];
  /** How the cron triggers arrive, in a cycle, and which of several runs ends last. */
  crons: { how: (typeof CRONS)[number]; lastIsFirst: boolean }[];
}

/** The first and the last minute of a history, since 1970. */
const FIRST = 29_000_010;
const MINUTES = 300;

/**
 * Runs the sweeps of 300 minutes. @returns the most pools in one run, and the most turns between two sweeps of a pool,
 * for each kind
 */
const sweepAll = ({ kinds, crons }: History, rule: Choose) => {
  const pools = kinds.map((kind, n) => ({ kind, n, name: `org-${String(n).padStart(4, "0")}`, last: 0 }));
  const isBusy = ({ kind, n }: (typeof pools)[number], minute: number) =>
    kind === "busy" || (kind === "changing" && (n + minute) % 7 < 3);
  const byName = new Map(pools.map((pool) => [pool.name, pool]));
  const longest = { busy: 0, quiet: 0, changing: 0 };
  let [turn, most, place] = [0, 0, SWEEP_BEGIN];
  const cronAt = (minute: number) => crons[minute % crons.length]!;
  for (let minute = FIRST; minute < FIRST + MINUTES; minute++) {
    const { how, lastIsFirst } = cronAt(minute);
    const times = { once: 1, twice: 2, late: 0, none: 0 }[how];
    const late = cronAt(minute - 1).how === "late" ? [minute - 1] : [];
    const runs = [...late, ...Array<number>(times).fill(minute)].map((meant) => {
      const busy = pools.filter((pool) => isBusy(pool, meant)).map(({ name }) => name);
      const quiet = pools.filter((pool) => !isBusy(pool, meant)).map(({ name }) => name);
      return rule(place, busy, quiet, meant);
    });
    if (runs.length === 0) continue;
    turn += 1;
    for (const name of new Set(runs.flatMap(([names]) => names))) {
      const pool = byName.get(name)!;
      longest[pool.kind] = Math.max(longest[pool.kind], turn - pool.last);
      pool.last = turn;
    }
    most = Math.max(most, ...runs.map(([names]) => names.length));
    place = runs.at(lastIsFirst ? 0 : -1)![1];
  }
  for (const { kind, last } of pools) longest[kind] = Math.max(longest[kind], turn - last);
  return { most, longest };
};

/** The most turns between two sweeps of a pool: twice its period. A pool that changes counts as both kinds. */
const boundsOf = (kinds: Kind[]) => {
  const count = (kind: Kind) => kinds.filter((one) => one === kind || one === "changing").length;
  return {
    busy: 2 * Math.ceil(count("busy") / BUSY_POOLS_PER_SWEEP),
    quiet: 2 * Math.max(QUIET_MINUTES, Math.ceil(count("quiet") / (POOLS_PER_SWEEP - BUSY_POOLS_PER_SWEEP))),
  };
};

const ON_TIME: History["crons"] = [{ how: "once", lastIsFirst: false }];

describe("the order in which pools are swept", () => {
  it("reaches every pool within twice its period, for any number of pools and any arrival of cron triggers", () => {
    const kinds = fc
      .tuple(fc.integer({ min: 1, max: 3000 }), fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 40 }))
      .map(([count, pattern]) => Array.from({ length: count }, (_, n) => pattern[n % pattern.length]!));
    const crons = fc.array(fc.record({ how: fc.constantFrom(...CRONS), lastIsFirst: fc.boolean() }), {
      minLength: 1,
      maxLength: MINUTES,
    });
    fc.assert(
      fc.property(fc.record({ kinds, crons }), (history) => {
        const { most, longest } = sweepAll(history, choose);
        const bounds = boundsOf(history.kinds);
        expect(most).toBeLessThanOrEqual(POOLS_PER_SWEEP);
        expect(longest.busy).toBeLessThanOrEqual(bounds.busy);
        expect(longest.quiet).toBeLessThanOrEqual(bounds.quiet);
      }),
      { numRuns: 40 },
    );
  });

  it.each([501, 750, 1001, 1250])("reaches all %i quiet pools, which slices by the minute never did", (count) => {
    const history = { kinds: Array<Kind>(count).fill("quiet"), crons: ON_TIME };
    expect(sweepAll(history, chooseByMinute).longest.quiet).toBe(MINUTES);
    expect(sweepAll(history, choose).longest.quiet).toBe(QUIET_MINUTES);
  });
});
