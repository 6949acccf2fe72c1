import type { ArtifactPlace, StoredArtifact } from "../protocol/artifact.ts";
import type { Build } from "../protocol/build.ts";
import type { Requires } from "../protocol/pipeline.ts";
import type { StoredTests, TestPlace } from "../protocol/test-report.ts";
import { dayOf, recordKey } from "./keys.ts";

/** An ended build as the archive keeps it: the whole build, and what a retry takes over besides. */
export interface BuildRecord extends Build {
  /** Absent in records of builds that an older release ended. */
  requires?: Requires;
  /** Whether the run had values or keys of its own, which only its pool keeps. Absent like `requires`. */
  hasRunValues?: boolean;
  /** The plan of its jobs: graph, text and ends, which only the pool can read. For retries. */
  plan?: unknown;
  /** What its jobs left, by their ids, and all places where something may be left; absent where that is nothing. */
  artifacts?: Record<string, StoredArtifact[]>;
  artifactPlaces?: ArtifactPlace[];
  /** What the tests of its jobs said, and where their reports may be, in the same way. */
  testReports?: Record<string, StoredTests>;
  testPlaces?: TestPlace[];
}

const keyOf = ({ orgId, id, finishedAt }: Pick<Build, "orgId" | "id" | "finishedAt">): string =>
  recordKey(dayOf(Date.parse(finishedAt ?? "")), orgId, id);

/** Stores the record of an ended build. May be repeated. */
export const putRecord = async (archive: R2Bucket, record: BuildRecord): Promise<void> => {
  await archive.put(keyOf(record), JSON.stringify(record), { httpMetadata: { contentType: "application/json" } });
};

/** The record of a build that ended at `finishedAt` (ISO 8601); null where there is none. */
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
