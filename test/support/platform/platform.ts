import { env } from "cloudflare:workers";
import { AsyncLocalStorage } from "node:async_hooks";
import { onTestFinished } from "vitest";
import { standBeforeArchive } from "./archive.ts";
import type { Crossing, Effect, Part } from "./crossing.ts";
import { standBeforeDatabase } from "./database.ts";
import { standBeforeObjects } from "./objects.ts";

/*
 * Faults that occur in production and not in a local run. A platform wraps D1, R2 and the objects for all their
 * callers: the Worker, upkeep and every object share one set of bindings. Times are those of `Date.now()`, so that an
 * outage of an hour is a matter of `vi.setSystemTime`.
 *
 *   const platform = newPlatform();                     // active until the test ends
 *   const outage = platform.trouble("DB", fails(D1.overloaded), { from: TEN, until: TEN + 20 * MINUTE });
 *   platform.trouble("ARCHIVE", losesAnswer(R2.internal), { only: ({ method }) => method === "put", nth: 2 });
 *   outage.injected                                     // how often it happened: a test asserts that it did
 *   outage.end()                                        // if it has no `until`
 *   const { asked } = await platform.counting(work)     // the calls of this work itself, without those of objects
 *   platform.aside.DB, platform.aside.ARCHIVE           // bypasses every fault, and is not counted
 *
 * `effects.ts` has the effects on a call, `texts.ts` the platform's messages, and `crons.ts` cron triggers that are
 * late, doubled or skipped.
 */

/** The calls that a fault affects: all of its part, unless this restricts them. */
interface Where {
  /** Milliseconds since 1970: from this time on, and until before that one. */
  from?: number;
  until?: number;
  only?: (crossing: Crossing) => boolean;
  /** Only the n-th of these; the first is 1. */
  nth?: number;
}

/** An arranged fault. */
interface Trouble {
  /** How often it happened. */
  readonly injected: number;
  end(): void;
}

/** The calls of one invocation of the Worker to other parts. */
interface Asked {
  /** Round trips to D1, and the statements in them. */
  rounds: number;
  statements: number;
  /** Calls of objects and of R2, as `AGENT_POOL arrive`. */
  calls: string[];
}

export interface Platform {
  /** Arranges an effect on calls of a part. The latest one takes precedence. */
  trouble(part: Part, effect: Effect, where?: Where): Trouble;
  counting<T>(work: () => Promise<T>): Promise<{ value: T; asked: Asked }>;
  readonly aside: { DB: D1Database; ARCHIVE: R2Bucket };
  /** Restores the original bindings. */
  leave(): void;
}

interface Arranged extends Where {
  part: Part;
  effect: Effect;
  met: number;
  injected: number;
}

const strikes = (trouble: Arranged, crossing: Crossing): boolean => {
  const { part, from = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, only, nth } = trouble;
  const now = Date.now();
  if (part !== crossing.part || now < from || now >= until || only?.(crossing) === false) return false;
  trouble.met += 1;
  return nth === undefined || trouble.met === nth;
};

/** A call of an object begins its own invocation. */
const INVOCATION = new AsyncLocalStorage<Asked>();

const count = ({ part, method, statements }: Crossing): void => {
  const asked = INVOCATION.getStore();
  if (part !== "DB") asked?.calls.push(`${part} ${method}`);
  else if (asked) Object.assign(asked, { rounds: asked.rounds + 1, statements: asked.statements + statements.length });
};

let present: Platform | null = null;

/** Counts the calls of some work, in a test that needs no faults. */
export const counting = <T>(work: () => Promise<T>) => (present ?? newPlatform()).counting(work);

/** Wraps the bindings until the test ends. One at a time. */
export const newPlatform = (): Platform => {
  if (present) throw new Error("A platform is already active.");
  const troubles = new Set<Arranged>();
  const cross = <T>(crossing: Crossing, proceed: () => Promise<T>): Promise<T> => {
    count(crossing);
    let next = proceed as () => Promise<unknown>;
    for (const trouble of troubles) {
      if (!strikes(trouble, crossing)) continue;
      const within = next;
      trouble.injected += 1;
      next = () => trouble.effect(within, crossing);
    }
    return next() as Promise<T>;
  };
  const database = standBeforeDatabase(env.DB, cross);
  const archive = standBeforeArchive(env.ARCHIVE, cross);
  const objects = standBeforeObjects(cross);
  const platform: Platform = {
    trouble(part, effect, where = {}) {
      const arranged: Arranged = { ...where, part, effect, met: 0, injected: 0 };
      troubles.add(arranged);
      return {
        get injected() {
          return arranged.injected;
        },
        end: () => void troubles.delete(arranged),
      };
    },
    counting: async (work) => {
      const asked: Asked = { rounds: 0, statements: 0, calls: [] };
      return { value: await INVOCATION.run(asked, work), asked };
    },
    aside: { DB: database.aside, ARCHIVE: archive.aside },
    leave: () => {
      for (const { leave } of [database, archive, objects]) leave();
      present = null;
    },
  };
  present = platform;
  onTestFinished(platform.leave);
  return platform;
};
