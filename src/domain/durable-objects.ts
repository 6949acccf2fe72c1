import { VERSION } from "../protocol/version.ts";

/**
 * Returns the name of the object with an organization's agents and active builds. To shard it, change this function.
 */
export const poolName = (orgId: string): string => orgId;

/** Returns the name of the object that calls a connection's git host. */
export const gitHostName = (orgId: string, connectionId: string): string => `${orgId}/${connectionId}`;

/** Returns the connection of the object with this name. Returns empty texts if the object has no name yet. */
export const connectionIn = (name: string): { orgId: string; connectionId: string } => {
  const [orgId = "", connectionId = ""] = name.split("/");
  return { orgId, connectionId };
};

/** Returns the name of the object with a job's log. A first job has the id of its build. */
export const buildLogName = (orgId: string, jobId: string): string => `${orgId}/${jobId}`;

/*
 * During a deploy, Workers and objects of two releases meet for seconds. Each call names the release of its caller. An
 * object rejects a call from another release before it does anything, and the caller answers 503. A release may
 * therefore change every method.
 */

/**
 * Methods that answer every release. `fetch` opens a socket, which is not a call. Nobody would repeat the other calls.
 */
const FOR_ALL_RELEASES = ["fetch", "keepDelivery", "noteDelivery", "summaryOf"];

export const isForAllReleases = (method: string): boolean => FOR_ALL_RELEASES.includes(method);

type Calls = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** Wraps an object's stub so that its calls name the release. */
export const calling = <T extends object>(stub: T): T =>
  new Proxy(stub, {
    get(_, name) {
      if (typeof name !== "string" || name === "then") return undefined;
      const calls = stub as Calls;
      return (...args: unknown[]) =>
        isForAllReleases(name) ? calls[name]!(...args) : calls.call!(VERSION, name, args);
    },
  });

/**
 * Reports whether the object rejected the call because its caller is of another release, or because the object's
 * release has no `call`.
 */
export const isOfOtherRelease = (error: unknown): boolean =>
  error instanceof Error && /does not implement the method/.test(error.message);
