import type { ArtifactPlace, StoredArtifact } from "../protocol/artifact.ts";
import type { Build } from "../protocol/build.ts";
import type { Requires } from "../protocol/pipeline.ts";
import type { StoredTests, TestPlace } from "../protocol/test-report.ts";
import { dayOf, recordKey } from "./keys.ts";

/** An ended build in the archive: the whole build, and the additional facts that a retry reuses. */
export interface BuildRecord extends Build {
  /** The build's requirements. Absent in records of builds that ended under an older release. */
  requires?: Requires;
  /** Whether the run had its own values or keys, which only its pool keeps. Absent like `requires`. */
  hasRunValues?: boolean;
  /** The plan of the build's jobs: graph, text and ends, which only the pool can read. A retry uses it. */
  plan?: unknown;
  /**
   * The artifacts of the build's jobs by job id, with every place where an artifact may be. Absent if no job has
   * artifacts.
   */
  artifacts?: Record<string, StoredArtifact[]>;
  artifactPlaces?: ArtifactPlace[];
  /** The test results of the build's jobs, with every place where a report may be. Absent if no job has results. */
  testReports?: Record<string, StoredTests>;
  testPlaces?: TestPlace[];
}

const keyOf = ({ orgId, id, finishedAt }: Pick<Build, "orgId" | "id" | "finishedAt">): string =>
  recordKey(dayOf(Date.parse(finishedAt ?? "")), orgId, id);

/** Stores the record of an ended build. Idempotent. */
export const putRecord = async (archive: R2Bucket, record: BuildRecord): Promise<void> => {
  await archive.put(keyOf(record), JSON.stringify(record), { httpMetadata: { contentType: "application/json" } });
};

/** Reads the record of a build that ended at `finishedAt` (ISO 8601); null if there is no record. */
export const getRecord = async (
  archive: R2Bucket,
  build: { orgId: string; id: string; finishedAt: string },
): Promise<BuildRecord | null> => {
  const object = await archive.get(keyOf(build));
  return object?.json<BuildRecord>() ?? null;
};

export const deleteRecord = async (
  archive: R2Bucket,
  build: { orgId: string; id: string; finishedAt: string },
): Promise<void> => archive.delete(keyOf(build));
