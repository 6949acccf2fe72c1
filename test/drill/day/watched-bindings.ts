import { standBeforeArchive } from "../../support/platform/archive.ts";
import { type Cross, type Part, PlatformError } from "../../support/platform/crossing.ts";
import { standBeforeDatabase } from "../../support/platform/database.ts";
import { pause, realNow } from "./simulated-time.ts";

/*
 * Tracks the pending calls of the Worker and its objects, so that the clock stands still meanwhile. Lets parts of the
 * platform fail at times of the day.
 */

/** A part of the platform that fails. */
export interface Fault {
  part: Part;
  from: number;
  until: number;
  message: string;
  /** In each group of so many calls ... */
  of: number;
  /** ... so many fail. */
  fail: number;
}

export const faults: Fault[] = [];
/** Calls that failed because of a fault, by part. */
export const failed: Partial<Record<Part, number>> = {};
let asked = 0;

const checkFault = (part: Part): void => {
  const now = Date.now();
  const fault = faults.find((one) => one.part === part && one.from <= now && now < one.until);
  if (!fault) return;
  asked += 1;
  if (asked % fault.of >= fault.fail) return;
  failed[part] = (failed[part] ?? 0) + 1;
  throw new PlatformError(fault.message);
};

/** Milliseconds after which a call counts as waiting for the clock, not for the machine. */
const PATIENCE_MS = 25;
/** Turns of a millisecond without activity, after which the Worker is at rest. */
const TURNS = 3;

const underWay = new Map<symbol, { isLeaf: boolean; since: number }>();
let steps = 0;

/** The number of messages written to sockets. */
export const sockets = { sent: 0 };
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (this: WebSocket, ...given: Parameters<typeof send>) {
  sockets.sent += 1;
  return send.apply(this, given);
};

export const watched = async <T>(isLeaf: boolean, work: () => T | Promise<T>): Promise<T> => {
  const id = Symbol();
  underWay.set(id, { isLeaf, since: realNow() });
  steps += 1;
  try {
    return await work();
  } finally {
    underWay.delete(id);
    steps += 1;
  }
};

const isAtWork = (): boolean =>
  underWay.values().some(({ isLeaf, since }) => isLeaf || realNow() - since < PATIENCE_MS);

/** Waits until all pending calls wait for the clock. */
export const untilQuiet = async (): Promise<void> => {
  for (let turns = 0, before = steps; turns < TURNS; turns++) {
    await pause(1);
    if (steps !== before || isAtWork()) turns = -1;
    before = steps;
  }
};

/** Wraps each call to the platform: tracks it, and lets it fail during a fault. */
const cross: Cross = ({ part }, proceed) =>
  watched(true, () => {
    checkFault(part);
    return proceed();
  });

const bound = (target: object, name: string | symbol): unknown => {
  const found: unknown = Reflect.get(target, name);
  return typeof found === "function" ? found.bind(target) : found;
};

const watchedObjects = <N extends DurableObjectNamespace>(objects: N): N =>
  new Proxy(objects, {
    get(target, name) {
      if (name !== "getByName") return bound(target, name);
      return (...given: [never]) =>
        new Proxy(target.getByName(...given), {
          get(stub, method) {
            if (typeof Reflect.get(stub, method) !== "function") return undefined;
            const callable = stub as unknown as Record<string | symbol, (...words: unknown[]) => Promise<unknown>>;
            return (...words: unknown[]) => watched(false, () => callable[method]!(...words));
          },
        });
    },
  });

/** Counts by the simulated clock's minutes, as the platform's binding counts by its own. */
class Rate {
  readonly #limit: number;
  #minute = 0;
  #counts = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  async limit({ key }: RateLimitOptions): Promise<RateLimitOutcome> {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.#minute) this.#counts = new Map();
    this.#minute = minute;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return { success: count <= this.#limit };
  }
}

const realFetch = globalThis.fetch;
globalThis.fetch = ((...given: Parameters<typeof fetch>) =>
  watched(true, () => realFetch(...given))) as typeof globalThis.fetch;

const known = new WeakMap<object, Env>();

const databases = new WeakMap<object, D1Database>();

/** Returns the database without faults, for an outside observer. */
export const aside = (env: Env): D1Database => {
  watchedEnv(env);
  return databases.get(env)!;
};

export const watchedEnv = (env: Env): Env => {
  const before = known.get(env);
  if (before) return before;
  const stands = standBeforeDatabase(env.DB, cross);
  databases.set(env, stands.aside);
  standBeforeArchive(env.ARCHIVE, cross);
  const seen = {
    ...env,
    AGENT_POOL: watchedObjects(env.AGENT_POOL),
    BUILD_LOG: watchedObjects(env.BUILD_LOG),
    GIT_HOST: watchedObjects(env.GIT_HOST),
    TOKEN_RATE: new Rate(Number(env.TOKEN_REQUESTS_PER_MINUTE)) as RateLimit,
    AGENT_RATE: new Rate(Number(env.AGENT_REQUESTS_PER_MINUTE)) as RateLimit,
  };
  known.set(env, seen);
  return seen;
};
