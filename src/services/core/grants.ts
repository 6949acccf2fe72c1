import { type Grants, loadGrants } from "../../crypto/artifact-grant.ts";
import type { CacheCodec } from "../../protocol/cache.ts";
import { usable } from "./sealing.ts";

/** What every grant names: of which job, how many bytes, and until when (milliseconds since 1970). */
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

/** `path`: the end of the keys of its objects. */
interface OfEntry extends Facts {
  path: string;
}

interface OfAgent {
  tokenHash: string;
}

interface OfUpload extends OfAgent {
  fence: number;
  /** Of the archive, where the bytes come in several parts. */
  uploadId?: string | undefined;
}

/** For people: the name, the one file or folder that is shown, and when the artifact was made. */
interface OfAddress extends OfArtifact {
  name?: string;
  path?: string | null;
  made?: number;
  /** Whom the address was made for. */
  actor?: string;
}

/** What each grant names. Workers of two releases read each other's. */
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
