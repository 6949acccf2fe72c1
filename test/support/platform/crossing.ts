/** The bindings that the Worker and the objects call. */
export type Part = "DB" | "ARCHIVE" | "AGENT_POOL" | "BUILD_LOG" | "GIT_HOST";

/** One call that leaves the isolate. */
export interface Crossing {
  part: Part;
  /** The method of R2 or of the object. */
  method: string;
  /** The key in R2, or the name of the object. */
  name: string;
  /** The statements for D1, in one transaction. */
  statements: readonly string[];
  /** The arguments for R2 or the object. */
  given?: readonly unknown[];
}

/** Passes a call on, or simulates a fault of the platform. */
export type Cross = <T>(crossing: Crossing, proceed: () => Promise<T>) => Promise<T>;

/** The fate of a call. `proceed` does what the caller requested. */
export type Effect = (proceed: () => Promise<unknown>, crossing: Crossing) => Promise<unknown>;

/** The platform's own failure, not one of the called part. */
export class PlatformError extends Error {}
