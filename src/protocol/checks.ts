import * as z from "zod/mini";
import { withCommas } from "./limits.ts";

/*
 * Checks with the sentence that a client reads, made from the number itself. Patterns go into the API's description,
 * where languages without JavaScript's `u` flag compile them, so control characters are spelled out.
 */

/** A whole number from `least` to `most`. */
export const intBetween = (least: number, most: number) => {
  const problem = range(least, most);
  return z.int().check(z.minimum(least, problem), z.maximum(most, problem));
};

/** A query parameter that is a whole number from `least` to `most`, in digits. */
export const queryNumber = (least: number, most: number) => {
  const problem = most === Number.MAX_SAFE_INTEGER ? "must be a whole number" : range(least, most);
  return z.pipe(
    z.transform((text) => (typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : text)),
    z.int(problem).check(z.minimum(least, problem), z.maximum(most, problem)),
  );
};

const range = (least: number, most: number): string => `must be ${withCommas(least)} to ${withCommas(most)}`;

export const notEmpty = () => z.minLength(1, "must not be empty");

export const atMost = (characters: number) =>
  z.maxLength(characters, `must have at most ${withCommas(characters)} characters`);

export const atMostItems = (items: number, noun: string) =>
  z.maxLength(items, `must have at most ${withCommas(items)} ${noun}`);

export const withoutControls = (quantifier: "+" | "*" = "+") =>
  z.regex(new RegExp(`^[^\\x00-\\x1F\\x7F-\\x9F]${quantifier}$`), "must not have control characters");

export const withoutNul = () => z.refine<string>((text) => !text.includes("\0"), "must not have a NUL character");

/** Characters that are not visible, or that change the direction of the text around them. */
const INVISIBLE = /[\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/;

/** Refuses what would make one name look like another. Joiners are allowed: scripts and emoji need them. */
export const visible = () =>
  z.refine<string>(
    (text) => !INVISIBLE.test(text),
    "must not have invisible characters or ones that change the direction of the text",
  );
