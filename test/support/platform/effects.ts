import { runInDurableObject } from "cloudflare:test";
import { type Crossing, type Effect, PlatformError } from "./crossing.ts";
import { OBJECT } from "./texts.ts";

/** The call never arrives, and the caller gets an error. What the platform says about it is set on that error. */
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

/** The answer comes so many milliseconds of the timers' time later. */
export const takes =
  (milliseconds: number): Effect =>
  async (proceed) => {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return proceed();
  };

/** There is no answer, ever. */
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

/** The object is reset once the call has done its work: whoever waits for its answer is gone. */
export const resets =
  (stub: () => DurableObjectStub): Effect =>
  async (proceed) => {
    await proceed();
    return runInDurableObject(stub(), (_object, state) => state.abort(OBJECT.reset));
  };

/** Calls of the objects with these names. */
export const to = (...names: string[]) => ({ only: ({ name }: Crossing): boolean => names.includes(name) });

const ADDS_ROWS = /^\s*(?:insert|replace)\s(?!\s*into "?guard"?)/i;

/** What a database without a free page refuses, with `D1.full`: it still reads, updates and deletes. */
export const addsRows = ({ statements }: Crossing): boolean => statements.some((sql) => ADDS_ROWS.test(sql));
