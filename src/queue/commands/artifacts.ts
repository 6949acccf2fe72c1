import type { ArtifactPlace, StoredArtifact } from "../../protocol/artifact.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type Decision, type DecisionContext, decided, patchBuild, refused, unknownId } from "../state/decision.ts";
import type { ArtifactFacts, Change, JobEntry, JobFacts } from "../state/facts.ts";
import type { Rules } from "../state/rules.ts";
import type { PoolState } from "../state/state.ts";
import type { LeaseHolder } from "./commands.ts";
import { isRefused, jobOfCaller } from "./work.ts";

/**
 * The request for an artifact. `id` and `day` apply only to a new artifact. `uploadId` means that its multipart upload
 * has begun.
 */
export type OpenArtifact = LeaseHolder &
  Pick<ArtifactFacts, "id" | "name" | "as" | "bytes" | "files" | "day"> & { uploadId?: string };

export type KeepArtifact = LeaseHolder & { artifactId: string };

/** A person's request to delete an artifact. `jobId` is its job's id, or its build's id if no jobs are planned. */
export interface RemoveArtifact {
  jobId: string;
  artifactId: string;
}

const artifactsOfLease = ({ artifacts = [], fence }: JobFacts): ArtifactFacts[] =>
  artifacts.filter((one) => one.fence === fence);

const isSame = (artifact: ArtifactFacts, request: OpenArtifact): boolean =>
  artifact.as === request.as && artifact.bytes === request.bytes && artifact.files === request.files;

/**
 * Returns the held job with these artifacts, all of which are from its lease. Keeps the days of earlier artifacts, for
 * deletions.
 */
const withArtifacts = ({ job }: JobEntry, artifacts: ArtifactFacts[]): Change => {
  const artifactDays = [...new Set([...(job.artifactDays ?? []), ...artifacts.map(({ day }) => day)])];
  return { kind: "job", job: { ...job, artifacts, artifactDays } };
};

/** Begins an artifact under a lease, or finds the artifact that the same call began earlier. */
export const openArtifact = (
  state: PoolState,
  request: OpenArtifact,
  context: DecisionContext,
): Decision<ArtifactFacts> => {
  const entry = jobOfCaller(state, request, context);
  if (isRefused(entry)) return entry;
  if (entry.job.lease!.startedAt === null) return refused("conflict", "The build was not started.");
  const artifacts = artifactsOfLease(entry.job);
  const existing = artifacts.find(({ name, isReplaced }) => name === request.name && !isReplaced);
  if (existing?.isKept) return refused("conflict", "The job already has an artifact with this name.");
  const { id, name, as, bytes, files, day, uploadId } = request;
  if (existing && isSame(existing, request)) {
    if (existing.uploadId !== undefined || uploadId === undefined) return decided(existing);
    const begun = { ...existing, uploadId };
    return decided(begun, [
      withArtifacts(
        entry,
        artifacts.map((one) => (one === existing ? begun : one)),
      ),
    ]);
  }
  // Replaced artifacts count too, so that no agent fills the archive with unfinished artifacts.
  const others = artifacts.map((one) => (one === existing ? { ...one, isReplaced: true } : one));
  if (others.length >= LIMITS.artifacts)
    return refused("limit-reached", `A job can have at most ${LIMITS.artifacts} artifacts.`);
  const opened = { id, name, as, bytes, files, fence: request.fence, day, at: context.now };
  return decided(opened, [withArtifacts(entry, [...others, opened])]);
};

/**
 * Keeps an artifact whose bytes are all in the archive. The job has the artifact if the job ends under this lease.
 * Agents can repeat the call.
 */
export const keepArtifact = (
  state: PoolState,
  request: KeepArtifact,
  context: DecisionContext,
): Decision<ArtifactFacts> => {
  const entry = jobOfCaller(state, request, context);
  if (isRefused(entry)) return entry;
  const artifacts = artifactsOfLease(entry.job);
  const artifact = artifacts.find(({ id, isReplaced }) => id === request.artifactId && !isReplaced);
  if (!artifact) return refused("conflict", "A newer upload of this artifact has begun: send that one.");
  if (artifact.isKept) return decided(artifact);
  const { uploadId: _, ...whole } = artifact;
  const keptArtifact = { ...whole, isKept: true };
  return decided(keptArtifact, [
    withArtifacts(
      entry,
      artifacts.map((one) => (one === artifact ? keptArtifact : one)),
    ),
  ]);
};

/**
 * Discards an artifact's uploaded bytes. The next call that opens it starts over.
 * @returns false for an artifact that is unknown or already kept
 */
export const discardArtifact = (
  state: PoolState,
  request: KeepArtifact,
  context: DecisionContext,
): Decision<boolean> => {
  const entry = jobOfCaller(state, request, context);
  if (isRefused(entry)) return entry;
  const artifacts = artifactsOfLease(entry.job);
  const artifact = artifacts.find(({ id }) => id === request.artifactId);
  if (!artifact || artifact.isKept) return decided(false);
  return decided(true, [
    withArtifacts(
      entry,
      artifacts.map((one) => (one === artifact ? { ...one, isReplaced: true } : one)),
    ),
  ]);
};

const toStored = ({ uploadId: _, isKept: __, isReplaced: ___, ...artifact }: ArtifactFacts): StoredArtifact => artifact;

/**
 * Returns the artifacts of an ended job that people and other jobs see. They are from the lease of the job's result.
 */
export const visibleArtifacts = (job: JobFacts, rules: Pick<Rules, "showsArtifact">): StoredArtifact[] =>
  (job.artifacts ?? []).filter((artifact) => rules.showsArtifact(artifact, job)).map(toStored);

/** Returns the places in the archive where the job may have left artifacts, under any lease. */
export const artifactPlaces = ({ id, artifactDays = [] }: JobFacts): ArtifactPlace[] =>
  artifactDays.map((day) => ({ jobId: id, day }));

/** Removes an artifact of an ended job. The pool then rewrites the record of the job's build. */
export const removeArtifact = (
  { jobs, records }: PoolState,
  { jobId, artifactId }: RemoveArtifact,
  context: DecisionContext,
): Decision<null> => {
  const activeJob = jobs.get(jobId);
  const job = activeJob?.end ? activeJob : records.endedJob(jobId)?.job;
  const before = job?.artifacts ?? [];
  const artifacts = before.filter(({ id }) => id !== artifactId);
  if (!job || artifacts.length === before.length) return unknownId();
  const build = records.ended(job.buildId);
  return decided(null, [{ kind: "job", job: { ...job, artifacts } }, ...(build ? patchBuild(build, {}, context) : [])]);
};
