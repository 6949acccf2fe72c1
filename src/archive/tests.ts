import type { TestPlace, TestReport } from "../protocol/test-report.ts";
import { TESTS } from "./keys.ts";

/** What is kept of a job's tests, with the ids of those that passed after they had failed in other builds. */
export type KeptTests = Pick<TestReport, "counts" | "warnings"> & {
  tests: Omit<TestReport["tests"][number], "failures">[];
  passed: string[];
};

interface TestsOwner extends TestPlace {
  orgId: string;
  /** Of the lease under which the report was sent. */
  fence: number;
}

const prefixOf = ({ day, orgId, jobId }: Omit<TestsOwner, "fence">): string => `${TESTS}/${day}/${orgId}/${jobId}/`;
const keyOf = (owner: TestsOwner): string => `${prefixOf(owner)}${owner.fence}`;

/** Stores the report of a job under one lease, instead of the one before. */
export const putTests = async (archive: R2Bucket, owner: TestsOwner, report: KeptTests): Promise<void> => {
  const zipped = new Blob([JSON.stringify(report)]).stream().pipeThrough(new CompressionStream("gzip"));
  await archive.put(keyOf(owner), await new Response(zipped).arrayBuffer(), {
    httpMetadata: { contentType: "application/json", contentEncoding: "gzip" },
  });
};

/** The report; null where retention or a person deleted it. */
export const getTests = async (archive: R2Bucket, owner: TestsOwner): Promise<KeptTests | null> => {
  const object = await archive.get(keyOf(owner));
  return object && new Response(object.body.pipeThrough(new DecompressionStream("gzip"))).json<KeptTests>();
};

/** Deletes the reports of a job of one day, whatever lease they came under. May be repeated. */
export const deleteTests = async (archive: R2Bucket, place: Omit<TestsOwner, "fence">): Promise<void> => {
  for (;;) {
    const { objects, truncated } = await archive.list({ prefix: prefixOf(place) });
    if (objects.length > 0) await archive.delete(objects.map(({ key }) => key));
    if (!truncated) return;
  }
};
