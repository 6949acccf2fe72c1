import { CONTENT_SHA256_HEADER, GRANT_HEADER, type OpenedArtifact, SentPart } from "../../protocol/artifact.ts";
import { type CacheEnd, type CacheOpening, type CacheQuery, FoundCache, OpenedCache } from "../../protocol/cache.ts";
import { PART_TIMEOUT } from "../artifacts/artifact-calls.ts";
import { LeaseCalls } from "../artifacts/lease-calls.ts";
import type { UploadCalls } from "../artifacts/part-sender.ts";

/** A build does not wait long for its cache: some seconds. */
const TRIES = 5;

/** What an agent asks of the service about the cache. @throws ArtifactRefused, Cancel lease-lost */
export class CacheCalls extends LeaseCalls implements UploadCalls<CacheOpening> {
  find(body: CacheQuery): Promise<FoundCache> {
    return this.call(FoundCache, 200, { method: "POST", path: this.path("cache/find"), body, maxTries: TRIES });
  }

  async open(body: CacheOpening, before?: string): Promise<OpenedArtifact> {
    const headers: Record<string, string> = before === undefined ? {} : { [GRANT_HEADER]: before };
    const asked = { method: "POST", path: this.path("cache"), headers, body, maxTries: TRIES } as const;
    const { cacheId, ...opened } = await this.call(OpenedCache, 201, asked);
    return { artifactId: cacheId, ...opened };
  }

  part(id: string, number: number, grant: string, bytes: Buffer, sha256: string): Promise<{ etag: string }> {
    return this.call(SentPart, 200, {
      method: "PUT",
      path: this.path(`cache/${id}/part/${number}`),
      headers: { [GRANT_HEADER]: grant, [CONTENT_SHA256_HEADER]: sha256 },
      bytes,
      timeout: PART_TIMEOUT,
      maxTries: TRIES,
    });
  }

  async end(id: string, grant: string, body: CacheEnd): Promise<void> {
    const headers = { [GRANT_HEADER]: grant };
    await this.send(204, { method: "POST", path: this.path(`cache/${id}/done`), headers, body, maxTries: TRIES });
  }
}
