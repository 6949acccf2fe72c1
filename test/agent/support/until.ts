import { setTimeout as delay } from "node:timers/promises";

/** Looks again and again until `condition` gives something; the test's own time limit is the limit. */
export const until = async <T>(condition: () => T | Promise<T>): Promise<NonNullable<Exclude<T, false>>> => {
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<Exclude<T, false>>;
    await delay(10);
  }
};
