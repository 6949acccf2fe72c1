/** The kinds of objects in the archive: each is the first part of a key. */
export const ARCHIVED = ["record", "log", "tests"] as const;
export type Archived = (typeof ARCHIVED)[number];

/** The kind of reports of tests: their day is the one on which they were sent. */
export const TESTS = "tests" satisfies Archived;

/** The kind whose keys begin with the last day on which they are kept. */
export const UNTIL_DAY = "artifact";

/** The day (UTC) of a time in milliseconds since 1970: `2026-11-22`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The last day that retention keeps nothing of: everything that ended on it or earlier is deleted. */
export const lastDayPast = (now: number, days: number): string => dayOf(now - (days + 1) * DAY_MS);

/** The day in a key; null where it has none. */
export const dayOfKey = (key: string): string | null => /^[a-z]+\/(\d{4}-\d\d-\d\d)\//.exec(key)?.[1] ?? null;

/* Keys begin with the day on which the build ended, so that retention reads the oldest first and deletes whole days. */

import { DAY_MS } from "../protocol/units.ts";

/** A build's record: what only its own page shows. */
export const recordKey = (day: string, orgId: string, buildId: string): string =>
  `record/${day}/${orgId}/${buildId}.json`;

/** The folder of the logs of one job. */
export const logPrefix = (day: string, orgId: string, jobId: string): string => `log/${day}/${orgId}/${jobId}/`;

/** The log of one attempt of a job. */
export const logKey = (day: string, orgId: string, jobId: string, attempt: number): string =>
  `${logPrefix(day, orgId, jobId)}${attempt}`;
