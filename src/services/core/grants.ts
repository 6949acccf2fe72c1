import { type Grants, loadGrants } from "../../crypto/artifact-grant.ts";
import type { CacheCodec } from "../../protocol/cache.ts";
import { usable } from "./sealing.ts";

/** The facts in every grant: the job, the size, and the expiry (milliseconds since 1970). */
interface Facts {
  orgId: string;
  jobId: string;
  id: string;
  bytes: number;
  until: number;
}

interface OfArtifact extends Facts {
  fence: number;
  day: string;
}

/** The facts of a cache entry. `path` is the end of the keys of the entry's objects. */
interface OfEntry extends Facts {
  path: string;
}

interface OfAgent {
  tokenHash: string;
}

interface OfUpload extends OfAgent {
  fence: number;
  /** The archive's upload id, if the bytes arrive in several parts. */
  uploadId?: string | undefined;
}

/**
 * The facts of an address for people: the name, the one file or folder to show, and the time when the artifact was
 * created.
 */
interface OfAddress extends OfArtifact {
  name?: string;
  path?: string | null;
  made?: number;
  /** The person who requested the address. */
  actor?: string;
}

/** The facts in each kind of grant. Workers of two releases read each other's grants. */
export interface GrantFacts {
  upload: OfArtifact & OfUpload & { files: number };
  download: OfArtifact & OfAgent;
  share: OfAddress;
  view: OfAddress;
  "cache-read": OfEntry & OfAgent;
  "cache-write": OfEntry & OfUpload & { key: string; sha256: string; codec: CacheCodec };
}

/** @throws Refusal keyring-unavailable */
export const openGrants = (env: Pick<Env, "TOKEN_KEYS">): Grants<GrantFacts> =>
  usable("TOKEN_KEYS", () => loadGrants<GrantFacts>(env.TOKEN_KEYS));
