import fc from "fast-check";
import { expect, it } from "vitest";
import { JobStatus } from "../../../src/protocol/build-job.ts";
import { countsOfJobs } from "../../../src/queue/read/job-records.ts";

const STATUSES = JobStatus.options;

it("counts each job of a build once, whatever its state", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...STATUSES)), (statuses) => {
      const { total, ...counts } = countsOfJobs(statuses.map((status) => ({ status })));
      expect(total).toBe(statuses.length);
      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(total);
    }),
  );
});

it("counts a job that was not run separately from one that failed", () => {
  const statuses = ["succeeded", "failed", "dropped", "skipped", "canceled", "queued", "running"] as const;
  expect(countsOfJobs(statuses.map((status) => ({ status })))).toEqual({
    ...{ total: 7, waiting: 1, running: 1, succeeded: 1, failed: 1, stopped: 3 },
  });
});
