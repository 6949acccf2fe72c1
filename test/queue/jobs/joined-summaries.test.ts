import { expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { joinedSummaries } from "../../../src/queue/read/job-records.ts";

it("joins the jobs' summaries under their keys, or returns null if no job wrote one", () => {
  const jobs = [null, "one", "", "two"].map((summary, n) => ({ key: `j${n}`, summary }));
  expect(joinedSummaries(jobs)).toBe("## j1\n\none\n\n## j3\n\ntwo");
  expect(joinedSummaries(jobs.slice(0, 1))).toBe(null);
});

it("reads only as much of 256 jobs' summaries as is shown", () => {
  let read = 0;
  const jobs = Array.from({ length: LIMITS.jobs }, (_, n) => n).values();
  const summary = "x".repeat(LIMITS.summaryCharacters);
  const joined = joinedSummaries(
    jobs.map((n) => {
      read += 1;
      return { key: `j${n}`, summary };
    }),
  );
  expect(read).toBe(1);
  expect(joined).toBe(`## j0\n\n${summary}`);
});
