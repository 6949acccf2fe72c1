import { setTimeout as delay } from "node:timers/promises";

/** Polls until `condition` returns a truthy value. Only the test's own time limit ends it. */
export const waitUntil = async <T>(condition: () => T | Promise<T>): Promise<NonNullable<Exclude<T, false>>> => {
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<Exclude<T, false>>;
    await delay(10);
  }
};
