import * as z from "zod/mini";
import { type CacheEnd, type CacheOpening, type CacheQuery, FoundCache, OpenedCache } from "../../protocol/cache.ts";
import { LeaseCalls } from "../artifacts/lease-calls.ts";

/** What an agent asks of the service about the cache. @throws ArtifactRefused, Cancel lease-lost */
export class CacheCalls extends LeaseCalls<CacheOpening, CacheEnd> {
  /** A build does not wait long for its cache: some seconds. */
  protected override readonly tries = 5;
  protected readonly kind = {
    path: "cache",
    opened: z.pipe(
      OpenedCache,
      z.transform(({ cacheId: id, ...opened }) => ({ id, ...opened })),
    ),
    end: { status: 204 },
  };

  find(body: CacheQuery): Promise<FoundCache> {
    return this.call(FoundCache, 200, { method: "POST", path: this.path("cache/find"), body });
  }
}
