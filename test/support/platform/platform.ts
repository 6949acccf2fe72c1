import { env } from "cloudflare:workers";
import { AsyncLocalStorage } from "node:async_hooks";
import { onTestFinished } from "vitest";
import { standBeforeArchive } from "./archive.ts";
import type { Crossing, Effect, Part } from "./crossing.ts";
import { standBeforeDatabase } from "./database.ts";
import { standBeforeObjects } from "./objects.ts";

/*
 * What production does and a local run does not. A platform stands before D1, R2 and the objects, for whoever calls
 * them: the Worker, upkeep and every object share one set of bindings. Times are those of `Date.now()`, so that an
 * outage of an hour is a matter of `vi.setSystemTime`.
 *
 *   const platform = newPlatform();                     // stands there until the test ends
 *   const outage = platform.trouble("DB", fails(D1.overloaded), { from: TEN, until: TEN + 20 * MINUTE });
 *   platform.trouble("ARCHIVE", losesAnswer(R2.internal), { only: ({ method }) => method === "put", nth: 2 });
 *   outage.injected                                     // how often it struck: a test asserts that it did
 *   outage.end()                                        // where it has no `until`
 *   const { asked } = await platform.counting(work)     // what this work asked for itself, and no object for it
 *   platform.aside.DB, platform.aside.ARCHIVE           // past every trouble, and not counted
 *
 * `effects.ts` has what may happen to a call, `texts.ts` the words of the platform, and `crons.ts` crons that are
 * late, doubled or skipped.
 */

/** Which calls a trouble strikes: all of its part, unless this says less. */
interface Where {
  /** Milliseconds since 1970: from then, and until before then. */
  from?: number;
  until?: number;
  only?: (crossing: Crossing) => boolean;
  /** Of these, the n-th alone; the first is 1. */
  nth?: number;
}

/** A trouble that was arranged. */
interface Trouble {
  /** How often it struck. */
  readonly injected: number;
  end(): void;
}

/** What one invocation of the Worker asked of the other parts. */
interface Asked {
  /** Round trips to D1, and the statements in them. */
  rounds: number;
  statements: number;
  /** Calls of objects and of R2, as `AGENT_POOL arrive`. */
  calls: string[];
}

export interface Platform {
  /** Lets an effect strike calls of a part. Of several, the one arranged last comes first. */
  trouble(part: Part, effect: Effect, where?: Where): Trouble;
  counting<T>(work: () => Promise<T>): Promise<{ value: T; asked: Asked }>;
  readonly aside: { DB: D1Database; ARCHIVE: R2Bucket };
  /** The bindings are as they were. */
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

/** A call of an object begins an invocation of its own. */
const INVOCATION = new AsyncLocalStorage<Asked>();

const count = ({ part, method, statements }: Crossing): void => {
  const asked = INVOCATION.getStore();
  if (part !== "DB") asked?.calls.push(`${part} ${method}`);
  else if (asked) Object.assign(asked, { rounds: asked.rounds + 1, statements: asked.statements + statements.length });
};

let present: Platform | null = null;

/** Counts what work asks for, in a test that needs no trouble besides. */
export const counting = <T>(work: () => Promise<T>) => (present ?? newPlatform()).counting(work);

/** Stands before the bindings until the test ends. One at a time. */
export const newPlatform = (): Platform => {
  if (present) throw new Error("A platform stands there already.");
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
