/** The kinds of objects in the archive: each is the first part of a key. */
export const ARCHIVED = ["record", "log", "tests"] as const;
export type Archived = (typeof ARCHIVED)[number];

/** The kind of test reports. Their day is the day of the upload. */
export const TESTS = "tests" satisfies Archived;

/** The kind of objects whose keys begin with the last day on which the archive keeps them. */
export const UNTIL_DAY = "artifact";

/** Returns the day (UTC) of a time in milliseconds since 1970: `2026-11-22`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Returns the last expired day. Retention deletes everything that ended on this day or earlier. */
export const lastDayPast = (now: number, days: number): string => dayOf(now - (days + 1) * DAY_MS);

/** Returns the day in a key; null if the key has no day. */
export const dayOfKey = (key: string): string | null => /^[a-z]+\/(\d{4}-\d\d-\d\d)\//.exec(key)?.[1] ?? null;

/* Keys begin with the day on which the build ended. Retention can then read the oldest first and delete whole days. */

import { DAY_MS } from "../protocol/units.ts";

/** The key of a build's record, with the details that only the build's own page shows. */
export const recordKey = (day: string, orgId: string, buildId: string): string =>
  `record/${day}/${orgId}/${buildId}.json`;

/** The folder of a job's logs. */
export const logPrefix = (day: string, orgId: string, jobId: string): string => `log/${day}/${orgId}/${jobId}/`;

/** The key of one attempt's log. */
export const logKey = (day: string, orgId: string, jobId: string, attempt: number): string =>
  `${logPrefix(day, orgId, jobId)}${attempt}`;
