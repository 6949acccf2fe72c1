import * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { atMost, atMostItems, notEmpty, visible, withoutControls } from "./checks.ts";
import { LIMITS } from "./limits.ts";

z.config(en());

/** A UUID v7 (RFC 9562) in lower case. Ids sort by their time of creation. */
export const Id = z.uuid();

/** An organization's slug. No other organization gets it, even after the organization is deleted. */
export const OrgId = z
  .string()
  .check(z.regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, "must be a slug: a-z, 0-9 and -, at most 64"));

/** A time in ISO 8601, in UTC, with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 });

/** Text for people, in one line and without control characters. */
export const Name = z.string().check(notEmpty(), atMost(LIMITS.nameCharacters), withoutControls(), visible());

/** A filter that matches exactly this name. Records of older releases may have names that `Name` now rejects. */
export const NameFilter = z.string().check(atMost(LIMITS.nameCharacters));

export const Description = z.string().check(atMost(LIMITS.descriptionCharacters));

export const LABEL = new RegExp(`^[A-Za-z0-9][A-Za-z0-9_.:/=-]{0,${LIMITS.labelCharacters - 1}}$`);

export const LABEL_RULE = `must be 1 to ${LIMITS.labelCharacters} of A-Z a-z 0-9 _ . : / = -`;

/** A capability that an agent offers and a build requires. */
export const Label = z.string().check(z.regex(LABEL, LABEL_RULE));

export const Labels = z.array(Label).check(atMostItems(LIMITS.labels, "labels"));

/** A query parameter that is true or false. */
export const QueryFlag = z.pipe(
  z.enum(["true", "false"], "must be true or false"),
  z.transform((text) => text === "true"),
);

export const PathId = z.object({ id: Id });
