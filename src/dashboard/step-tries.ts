import type { Step } from "../protocol/build.ts";

const ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

const ordinal = (number: number): string => `the ${ORDINALS[number - 1] ?? `${number}th`} try`;

/** What a step that was begun more than once says of its tries, after its name. */
export const triesInWords = (status: Step["status"], tries: number): string => {
  if (status === "succeeded") return `passed on ${ordinal(tries)}`;
  if (status === "failed") return `failed ${tries} times`;
  return status === "running" ? ordinal(tries) : `stopped at ${ordinal(tries)}`;
};
