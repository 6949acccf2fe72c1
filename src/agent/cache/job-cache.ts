import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, rmSync } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as z from "zod/mini";
import type { PlanCache } from "../../pipeline/parse/plan.ts";
import {
  type CachedEntry,
  type CacheEnd,
  type CacheOpening,
  type CacheQuery,
  FoundCache,
  OpenedCache,
} from "../../protocol/cache.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { contentOf } from "../artifacts/fetch-content.ts";
import { ArtifactRefused, LeaseCalls } from "../artifacts/lease-calls.ts";
import { Upload } from "../artifacts/part-sender.ts";
import { Cancel } from "../build/failure.ts";
import { FileProblem } from "../files/file-helper.ts";
import { sizeInWords } from "../files/file-words.ts";
import type { JobLog } from "../log/job-log.ts";
import type { ApiClient } from "../wire/client.ts";
import { type CacheRoots, CODECS, packCache, unpackCache } from "./cache-archive.ts";
import { type KeptCache, type LocalTier, sumOfFile } from "./local-tier.ts";

/** The agent's cache requests to the service. @throws ArtifactRefused, Cancel lease-lost */
export class CacheCalls extends LeaseCalls<CacheOpening, CacheEnd> {
  /** A build waits only some seconds for its cache. */
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

/** A cache in the file, with its key. */
export interface KeyedCache {
  cache: PlanCache;
  key: string;
  fallback: string[];
}

type Scopes = Pick<FoundCache, "scopes" | "saves">;

interface JobCacheOptions {
  calls: CacheCalls;
  client: ApiClient;
  tier: LocalTier;
  log: JobLog;
}

/**
 * Restores and saves one job's caches. A cache error never fails a build. It only adds a line to the log.
 * @throws Cancel when the build must stop
 */
export class JobCache {
  readonly #options: JobCacheOptions;
  readonly #roots: CacheRoots;
  readonly #caches: KeyedCache[];
  /** Names of caches with an entry for their full key. The service would reject another entry under that key. */
  readonly #whole = new Set<string>();
  #scopes: Scopes = { scopes: [], saves: null };

  constructor(options: JobCacheOptions, roots: CacheRoots, caches: KeyedCache[]) {
    this.#options = options;
    this.#roots = roots;
    this.#caches = caches;
  }

  async restoreAll(): Promise<void> {
    const { log, calls } = this.#options;
    if (this.#caches.length === 0) return;
    log.begin("Cache");
    const entries = this.#caches.map(({ key, fallback }) => ({ key, fallback }));
    const answer = await this.#trying("cannot look up the cache", () => calls.find({ entries, codecs: CODECS }));
    if (!answer) return;
    this.#scopes = answer;
    if (answer.scopes.length === 0) {
      log.say("Warning: cache: a build without a pipeline has no cache");
      return;
    }
    for (const [index, keyed] of this.#caches.entries())
      await this.#trying(`cannot restore ${keyed.cache.name}`, () =>
        this.#restore(keyed, answer.entries[index] ?? null),
      );
  }

  /** `isSuccess` says whether the steps succeeded. */
  async saveAll(isSuccess: boolean): Promise<void> {
    const { saves } = this.#scopes;
    const due = this.#caches.filter(
      ({ cache }) => !this.#whole.has(cache.name) && cache.save !== "never" && (isSuccess || cache.save === "always"),
    );
    if (saves === null || due.length === 0) return;
    this.#options.log.begin("Cache");
    for (const keyed of due) {
      const what = `cannot save ${keyed.cache.name}`;
      await this.#trying(what, () => this.#save(keyed, saves)).catch((error: unknown) => {
        // The steps have ended, so the time limit ends only the rest of this work, not the build.
        if (!(error instanceof Cancel) || error.reason !== "timeout") throw error;
        this.#options.log.say(`Warning: cache: ${what}: the time limit was reached`);
      });
    }
  }

  async #restore({ cache, key, fallback }: KeyedCache, entry: CachedEntry | null): Promise<void> {
    const { log, tier } = this.#options;
    if (entry?.key === key && entry.scope === this.#scopes.saves) this.#whole.add(cache.name);
    const begun = performance.now();
    const local = this.#findLocal(key, fallback, entry);
    const copy = local && (await this.#checked(local)) ? local : entry && (await this.#fetch(entry));
    if (!copy) {
      log.say(`${cache.name}: no entry yet`);
      return;
    }
    try {
      await unpackCache(this.#roots, cache.paths, copy);
    } finally {
      if (copy.file.endsWith(".part")) rmSync(copy.file, { force: true });
    }
    if (copy === local) tier.touch(copy);
    if (copy.key === key) this.#whole.add(cache.name);
    const how = copy.key === key ? "" : " from a fallback key";
    const where = copy === local ? "this machine" : `the service, saved by ${this.#savingBranch(entry)}`;
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    log.say(`${cache.name}: restored${how}, ${sizeInWords(copy.bytes)} from ${where} in ${seconds} s`);
  }

  #savingBranch(entry: CachedEntry | null): string {
    return this.#scopes.scopes.find(({ id }) => id === entry?.scope)?.branch ?? "this branch";
  }

  /** Finds a copy on this machine. The copy has the same bytes as the service's entry, or never left this machine. */
  #findLocal(key: string, fallback: string[], entry: CachedEntry | null): KeptCache | null {
    const { tier } = this.#options;
    const isRead = (copy: KeptCache | null): copy is KeptCache => copy !== null && CODECS.includes(copy.codec);
    const isUnsent = ({ bytes }: KeptCache): boolean => bytes > LIMITS.cacheLocalBytes;
    if (entry?.key === key) {
      const copy = tier.find(entry.scope, entry.key);
      return isRead(copy) && copy.sha256 === entry.sha256 ? copy : null;
    }
    const scopes = this.#scopes.scopes.map(({ id }) => id);
    const exact = scopes.map((id) => tier.find(id, key)).find((copy) => isRead(copy) && isUnsent(copy));
    if (exact) return exact;
    if (entry) {
      const copy = tier.find(entry.scope, entry.key);
      return isRead(copy) && copy.sha256 === entry.sha256 ? copy : null;
    }
    const begun = fallback.flatMap((text) => scopes.map((id) => tier.newest(id, text)));
    return begun.find((copy) => isRead(copy) && isUnsent(copy)) ?? null;
  }

  async #checked(copy: KeptCache): Promise<boolean> {
    if ((await sumOfFile(copy.file)) === copy.sha256) return true;
    this.#options.tier.forget(copy);
    return false;
  }

  async #fetch(entry: CachedEntry): Promise<KeptCache> {
    const { client, calls, tier } = this.#options;
    const { key, bytes, sha256, codec, scope } = entry;
    const file = tier.temporary();
    const hash = createHash("sha256");
    const renew = async (): Promise<string> => {
      const again = await calls.find({ entries: [{ key, fallback: [] }], codecs: CODECS });
      return again.entries[0]?.sha256 === sha256 ? again.entries[0].grant : entry.grant;
    };
    try {
      const counting = new Transform({
        transform(piece: Buffer, _, done) {
          hash.update(piece);
          done(null, piece);
        },
      });
      const content = contentOf({ client, grant: entry.grant, of: "cache", renew, bytes, signal: calls.signal });
      await pipeline(content, counting, createWriteStream(file, { mode: 0o600 }));
      if (hash.digest("hex") !== sha256) throw new FileProblem("its content differs from the saved entry");
      return tier.keep(scope, { key, bytes, sha256, codec, madeAt: new Date().toISOString() }, file);
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
  }

  async #save({ cache, key }: KeyedCache, scope: string): Promise<void> {
    const { tier, log, calls } = this.#options;
    const begun = performance.now();
    const file = tier.temporary();
    const codec = CODECS[0]!;
    try {
      const { archive, leftOut } = await packCache(this.#roots, cache.paths, { file, codec });
      for (const line of leftOut) log.say(`${cache.name}: left out: ${line}`);
      if (!archive) {
        log.say(`${cache.name}: nothing to save`);
        return;
      }
      const { bytes, sha256 } = archive;
      if (bytes > LIMITS.cacheEntryBytes) throw new FileProblem(`${sizeInWords(bytes)} is too large`);
      const isSent = bytes <= LIMITS.cacheLocalBytes || cache.isRemote;
      if (isSent) {
        const refusal = await this.#send(file, { key, bytes, sha256, codec });
        if (refusal !== null) return log.say(`${cache.name}: not saved: ${refusal}`);
      } else if ((await calls.find({ entries: [], codecs: [] })).saves !== scope) return;
      tier.keep(scope, { key, bytes, sha256, codec, madeAt: new Date().toISOString() }, file);
      const where = isSent ? "" : " on this machine only: set `remote: true` to send it to the service";
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      log.say(`${cache.name}: saved, ${sizeInWords(bytes)} in ${seconds} s${where}`);
    } finally {
      rmSync(file, { force: true });
    }
  }

  /**
   * Sends an archive.
   * @returns null after sending it. If another job saves or saved the same key, returns why sending is unnecessary.
   */
  async #send(file: string, opening: Parameters<CacheCalls["open"]>[0]): Promise<string | null> {
    const upload = await Upload.begin(this.#options.calls, opening).catch((error: unknown) => {
      if (error instanceof ArtifactRefused && error.status === 409) return error.message;
      throw error;
    });
    if (typeof upload === "string") return upload;
    await upload.send(createReadStream(file), (parts) => parts);
    return null;
  }

  async #trying<T>(what: string, act: () => Promise<T>): Promise<T | null> {
    try {
      return await act();
    } catch (error) {
      const { signal } = this.#options.calls;
      if (error instanceof Cancel) throw error;
      if (signal.aborted) throw signal.reason;
      const isSaid = error instanceof ArtifactRefused || error instanceof FileProblem;
      const { code = "an unexpected failure", path } = error as NodeJS.ErrnoException;
      const why = isSaid ? error.message : path === undefined ? code : `${path}: ${code}`;
      this.#options.log.say(`Warning: cache: ${what}: ${why}`);
      return null;
    }
  }
}
