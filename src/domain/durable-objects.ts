import { VERSION } from "../protocol/version.ts";

/** Name of the object with an organization's agents and active builds; to shard it, change this function. */
export const poolName = (orgId: string): string => orgId;

/** Name of the object that speaks with a git host for a connection. */
export const gitHostName = (orgId: string, connectionId: string): string => `${orgId}/${connectionId}`;

/** Whose connection the object of this name speaks for; empty texts where it has no name yet. */
export const connectionIn = (name: string): { orgId: string; connectionId: string } => {
  const [orgId = "", connectionId = ""] = name.split("/");
  return { orgId, connectionId };
};

/** Name of the object that holds the log of a job. A first job has the id of its build. */
export const buildLogName = (orgId: string, jobId: string): string => `${orgId}/${jobId}`;

/*
 * While a release is deployed, Workers and objects of two releases meet for seconds. Each call says the release of its
 * caller, and an object refuses those of another one before it does anything: the caller answers 503. So a release may
 * change every method.
 */

/** What objects answer to every release: a socket is no call, and nobody would repeat these calls. */
const FOR_ALL_RELEASES = ["fetch", "keepDelivery", "noteDelivery", "summaryOf"];

export const isForAllReleases = (method: string): boolean => FOR_ALL_RELEASES.includes(method);

type Calls = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** The stub of an object, whose calls say the release. */
export const calling = <T extends object>(stub: T): T =>
  new Proxy(stub, {
    get(_, name) {
      if (typeof name !== "string" || name === "then") return undefined;
      const calls = stub as Calls;
      return (...args: unknown[]) =>
        isForAllReleases(name) ? calls[name]!(...args) : calls.call!(VERSION, name, args);
    },
  });

/** Whether the called object refused a caller of another release, or is of one that has no `call`. */
export const isOfOtherRelease = (error: unknown): boolean =>
  error instanceof Error && /does not implement the method/.test(error.message);
