import { type ArtifactGrants, loadArtifactGrants } from "../../crypto/artifact-grant.ts";
import type { CacheCodec } from "../../protocol/cache.ts";
import { usable } from "./sealing.ts";

/** What a grant of the cache names: where the bytes are, for whose token, and until when (milliseconds since 1970). */
export interface CacheGrantFacts {
  orgId: string;
  jobId: string;
  tokenHash: string;
  /** The end of the keys of its objects, and the name of its bytes. */
  path: string;
  id: string;
  bytes: number;
  until: number;
  /** Of a save alone. */
  fence?: number;
  key?: string;
  sha256?: string;
  codec?: CacheCodec;
  uploadId?: string | undefined;
}

/** @throws Refusal keyring-unavailable */
export const cacheGrants = (env: Pick<Env, "TOKEN_KEYS">): ArtifactGrants<CacheGrantFacts> =>
  usable("TOKEN_KEYS", () => loadArtifactGrants<CacheGrantFacts>(env.TOKEN_KEYS));
