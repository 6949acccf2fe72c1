import { VERSION } from "../protocol/version.ts";

/*
 * While a release is deployed, Workers and objects of two releases meet for seconds. Each call says the release of its
 * caller, and an object refuses those of another one before it does anything: the caller answers 503. So a release may
 * change every method.
 */

/** What objects answer to every release: a socket is no call, and nobody would repeat these calls. */
const FOR_ALL_RELEASES = ["fetch", "keepDelivery", "noteDelivery", "summaryOf"];

export const isForAllReleases = (method: string): boolean => FOR_ALL_RELEASES.includes(method);

type Calls = Record<string, (...given: unknown[]) => Promise<unknown>>;

/** The stub of an object, whose calls say the release. */
export const calling = <T extends object>(stub: T): T =>
  new Proxy(stub, {
    get(_, name) {
      if (typeof name !== "string" || name === "then") return undefined;
      const calls = stub as Calls;
      return (...given: unknown[]) =>
        isForAllReleases(name) ? calls[name]!(...given) : calls.call!(VERSION, name, given);
    },
  });

/** Whether the called object refused a caller of another release, or is of one that has no `call`. */
export const isOfOtherRelease = (error: unknown): boolean =>
  error instanceof Error && /does not implement the method/.test(error.message);
