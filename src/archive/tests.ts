import type { TestPlace, TestReport } from "../protocol/test-report.ts";
import { TESTS } from "./keys.ts";

/** The stored part of a job's test report, with the ids of tests that passed here after failing in other builds. */
export type KeptTests = Pick<TestReport, "counts" | "warnings"> & {
  tests: Omit<TestReport["tests"][number], "failures">[];
  passed: string[];
};

interface TestsOwner extends TestPlace {
  orgId: string;
  /** The fence of the lease that sent the report. */
  fence: number;
}

const prefixOf = ({ day, orgId, jobId }: Omit<TestsOwner, "fence">): string => `${TESTS}/${day}/${orgId}/${jobId}/`;
const keyOf = (owner: TestsOwner): string => `${prefixOf(owner)}${owner.fence}`;

/** Stores a job's report under one lease. Replaces the previous report. */
export const putTests = async (archive: R2Bucket, owner: TestsOwner, report: KeptTests): Promise<void> => {
  const zipped = new Blob([JSON.stringify(report)]).stream().pipeThrough(new CompressionStream("gzip"));
  await archive.put(keyOf(owner), await new Response(zipped).arrayBuffer(), {
    httpMetadata: { contentType: "application/json", contentEncoding: "gzip" },
  });
};

/** Reads the report; null where retention or a person has deleted it. */
export const getTests = async (archive: R2Bucket, owner: TestsOwner): Promise<KeptTests | null> => {
  const object = await archive.get(keyOf(owner));
  return object && new Response(object.body.pipeThrough(new DecompressionStream("gzip"))).json<KeptTests>();
};

/** Deletes a job's reports of one day, under any lease. Idempotent. */
export const deleteTests = async (archive: R2Bucket, place: Omit<TestsOwner, "fence">): Promise<void> => {
  for (;;) {
    const { objects, truncated } = await archive.list({ prefix: prefixOf(place) });
    if (objects.length > 0) await archive.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
};
