import { runInDurableObject } from "cloudflare:test";
import { type Crossing, type Effect, PlatformError } from "./crossing.ts";
import { OBJECT } from "./texts.ts";

/** The call never arrives, and the caller gets an error. The platform's properties are set on that error. */
export const fails =
  (message: string, says: { overloaded?: true; retryable?: true } = {}): Effect =>
  async () => {
    throw Object.assign(new PlatformError(message), says);
  };

/** The call does its work, and the caller gets an error. */
export const losesAnswer =
  (message: string): Effect =>
  async (proceed) => {
    await proceed();
    throw new PlatformError(message);
  };

/** The answer arrives this many milliseconds of the timers' time later. */
export const takes =
  (milliseconds: number): Effect =>
  async (proceed) => {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return proceed();
  };

/** No answer ever arrives. */
export const hangs: Effect = () => new Promise<never>(() => {});

/** Calls wait until the test lets them go. */
export const waitsForTest = (): { effect: Effect; letGo: () => void } => {
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const effect: Effect = async (proceed) => {
    await gate;
    return proceed();
  };
  return { effect, letGo };
};

/** The object is reset once the call has done its work: a caller that waits for its answer gets none. */
export const resets =
  (stub: () => DurableObjectStub): Effect =>
  async (proceed) => {
    await proceed();
    return runInDurableObject(stub(), (_object, state) => state.abort(OBJECT.reset));
  };

/** Matches calls of the objects with these names. */
export const to = (...names: string[]) => ({ only: ({ name }: Crossing): boolean => names.includes(name) });

const ADDS_ROWS = /^\s*(?:insert|replace)\s(?!\s*into "?guard"?)/i;

/** Matches calls that a database without a free page rejects, with `D1.full`: it still reads, updates and deletes. */
export const addsRows = ({ statements }: Crossing): boolean => statements.some((sql) => ADDS_ROWS.test(sql));
