/** What the Worker and the objects call by a binding. */
export type Part = "DB" | "ARCHIVE" | "AGENT_POOL" | "BUILD_LOG" | "GIT_HOST";

/** One call that leaves the isolate. */
export interface Crossing {
  part: Part;
  /** Of R2 or of the object. */
  method: string;
  /** The key in R2, or the name of the object. */
  name: string;
  /** What D1 is asked to run, in one transaction. */
  statements: readonly string[];
  /** What R2 or the object was given. */
  given?: readonly unknown[];
}

/** Passes a call on, or does to it what the platform may do. */
export type Cross = <T>(crossing: Crossing, proceed: () => Promise<T>) => Promise<T>;

/** What happens to a call. `proceed` does what the caller asked for. */
export type Effect = (proceed: () => Promise<unknown>, crossing: Crossing) => Promise<unknown>;

/** The platform's own failure, and not one of whom the call is for. */
export class PlatformError extends Error {}
