import type { TestCounts } from "./test-report.ts";

/** The tests of a job, as its pool has them. The report itself is in the archive. */
export interface StoredTests {
  counts: TestCounts;
  /** How many warnings the report has. */
  warnings: number;
  /** Whether the report names a test that others have to hear of: one that failed, is flaky, or passed after all. */
  hasNews: boolean;
  /** Of the lease under which it was sent. */
  fence: number;
  /** The day (UTC) on which it was sent: a part of its key in the archive. */
  day: string;
}

/** The same with the key of the job in its file; null for a first job. */
export interface TestsOfJob extends StoredTests {
  jobKey: string | null;
}

/** A day in whose folder a job may have left a report. */
export interface TestPlace {
  jobId: string;
  day: string;
}
