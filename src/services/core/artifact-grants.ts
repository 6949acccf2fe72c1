import { type ArtifactGrants, type Granted, loadArtifactGrants } from "../../crypto/artifact-grant.ts";
import { Refusal } from "./refusal.ts";
import { usable } from "./sealing.ts";

/** What every grant names: where the artifact is, and until when (milliseconds since 1970) it counts. */
export interface GrantFacts {
  orgId: string;
  jobId: string;
  fence: number;
  id: string;
  day: string;
  bytes: number;
  until: number;
  /** Of an upload: how many files, its id where it has several parts, and whose token it was given to. */
  files?: number;
  uploadId?: string | undefined;
  tokenHash?: string;
  /** For people: the name, the one file or folder that is shown, and whom the address was made for. */
  name?: string;
  path?: string | null | undefined;
  actor?: string;
  /** When the artifact was made, in milliseconds since 1970. */
  made?: number;
}

/** @throws Refusal keyring-unavailable */
export const artifactGrants = (env: Pick<Env, "TOKEN_KEYS">): ArtifactGrants<GrantFacts> =>
  usable("TOKEN_KEYS", () => loadArtifactGrants<GrantFacts>(env.TOKEN_KEYS));

/** A genuine grant that still counts. @throws Refusal forbidden, the same for a forged and an altered one */
export const readGrant = async (
  grants: ArtifactGrants<GrantFacts>,
  granted: Granted,
  grant: string,
  now: number,
): Promise<GrantFacts> => {
  const facts = await grants.read(granted, grant);
  if (!facts) throw new Refusal("forbidden", "The grant is not one that was given for this.");
  if (now >= facts.until) throw new Refusal("forbidden", "The grant has expired: ask for another one.");
  return facts;
};
