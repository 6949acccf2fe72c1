import * as z from "zod/mini";
import { withCommas } from "./limits.ts";

/*
 * Checks whose messages for clients contain the limit itself. The API's description includes the patterns, and some
 * languages compile them without JavaScript's `u` flag. Control characters are therefore spelled out.
 */

/** Checks for a whole number from `least` to `most`. */
export const intBetween = (least: number, most: number) => {
  const problem = range(least, most);
  return z.int().check(z.minimum(least, problem), z.maximum(most, problem));
};

/** Checks for a query parameter that is a whole number from `least` to `most`, in digits. */
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

/** Characters that are invisible, or that change the direction of the surrounding text. */
const INVISIBLE = /[\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/;

/**
 * Rejects characters that make one name look like another. Joiners are allowed, because scripts and emoji need them.
 */
export const visible = () =>
  z.refine<string>(
    (text) => !INVISIBLE.test(text),
    "must not have invisible characters, or characters that change the text's direction",
  );
