import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";

z.config(en());

/** A UUID v7 in lower case: ids sort by the time of their making. */
export const Id = z.uuid();

/** An organization's slug; never used twice. */
export const OrgId = z
  .string()
  .check(z.regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, "must be a slug: a-z, 0-9 and -, at most 64"));

/** ISO 8601, UTC, milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 });

/*
 * Patterns go into the API's description, where languages without JavaScript's `u` flag compile them: control
 * characters are spelled out.
 */

/** Characters that are not visible, or that turn the text around them: what is read would not be what is there. */
const INVISIBLE = /[\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/;

/** Keeps out what would make one name look like another; joiners stay, which scripts and emoji need. */
export const visible = () =>
  z.refine<string>(
    (text) => !INVISIBLE.test(text),
    "must not have invisible characters or ones that turn the text around",
  );

/** Text for people: one line, no control characters. */
export const Name = z
  .string()
  .check(
    z.minLength(1, "must not be empty"),
    z.maxLength(200, "must have at most 200 characters"),
    z.regex(/^[^\x00-\x1F\x7F-\x9F]+$/, "must not have control characters"),
    visible(),
  );

/** A filter by a name: exactly this one, which may be one of before that is no longer taken. */
export const NameFilter = z.string().check(z.maxLength(200, "must have at most 200 characters"));

export const Description = z.string().check(z.maxLength(2000, "must have at most 2000 characters"));

export const LABEL = /^[A-Za-z0-9][A-Za-z0-9_.:/=-]{0,99}$/;

/** A label of an agent or of a build's needs. */
export const Label = z.string().check(z.regex(LABEL, "must be 1 to 100 of A-Z a-z 0-9 _ . : / = -"));

export const Labels = z.array(Label).check(z.maxLength(50, "must have at most 50 labels"));

/** A query parameter that is true or false. */
export const QueryFlag = z.pipe(
  z.enum(["true", "false"], "must be true or false"),
  z.transform((text) => text === "true"),
);

/** A query parameter that is a whole number, in digits. */
export const QueryNumber = (least: number, most: number, problem: string) =>
  z.pipe(
    z.transform((text) => (typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : text)),
    z.int(problem).check(z.minimum(least, problem), z.maximum(most, problem)),
  );

export const PathId = z.object({ id: Id });
