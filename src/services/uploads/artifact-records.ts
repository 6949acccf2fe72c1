import { type ArtifactOwner, readFileList } from "../../archive/artifacts.ts";
import type { Artifact, ArtifactFile } from "../../protocol/artifact.ts";
import type { StoredArtifact } from "../../protocol/stored-artifact.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { reaching } from "../core/outage.ts";
import { Refusal } from "../core/refusal.ts";

/** An artifact with the job that left it: of a result that was taken over, the job that ran. */
export interface FoundArtifact {
  owner: ArtifactOwner;
  artifact: StoredArtifact;
}

export const ownerOf = (orgId: string, jobId: string, { day, fence, id }: StoredArtifact): ArtifactOwner => ({
  ...{ day, orgId, jobId, fence, id },
});

/** The first moment at which retention may delete what is kept until the end of a day. */
const endOfDay = (day: string): string => new Date(Date.parse(day) + DAY_MS).toISOString();

/** The artifact as the API shows it, below the job that was asked for. */
export const toArtifact = (jobId: string, { id, name, as, bytes, files, day, at }: StoredArtifact): Artifact => ({
  ...{ id, jobId, name, as, bytes, files },
  createdAt: new Date(at).toISOString(),
  expiresAt: endOfDay(day),
});

export const artifactGone = () =>
  new Refusal("gone", "This artifact was deleted, or the days for which it was kept are over.");

/** The files of an artifact. @throws Refusal gone where retention or a person deleted them */
export const fileListOf = async (archive: R2Bucket, owner: ArtifactOwner): Promise<ArtifactFile[]> => {
  const list = await reaching(readFileList(archive, owner));
  if (!list) throw artifactGone();
  return list;
};
