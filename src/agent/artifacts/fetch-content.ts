import { setTimeout as delay } from "node:timers/promises";
import { MINUTE_MS } from "../../protocol/units.ts";
import { logger } from "../cli/logger.ts";
import { type BackOff, DEFAULT_BACK_OFF, parseRetryAfter, retryDelay } from "../wire/back-off.ts";
import type { ApiClient } from "../wire/client.ts";
import { ArtifactRefused } from "./lease-calls.ts";

/** Maximum tries in a row that receive no bytes. */
const TRIES = 14;
/** Milliseconds without a byte after which a connection counts as lost. */
const SILENCE = MINUTE_MS;

interface ContentToFetch {
  client: ApiClient;
  grant: string;
  /** The kind of content that the grant covers. */
  of?: "artifact" | "cache";
  /** Requests a new grant after the service rejected the current one. */
  renew: () => Promise<string>;
  bytes: number;
  signal: AbortSignal;
  backOff?: BackOff;
}

/**
 * Yields an artifact's bytes. Resumes at the same position after a lost connection.
 * @throws ArtifactRefused, the signal's reason
 */
export async function* contentOf({
  client,
  grant,
  of = "artifact",
  renew,
  bytes,
  signal,
  backOff = DEFAULT_BACK_OFF,
}: ContentToFetch): AsyncGenerator<Buffer> {
  let current = grant;
  let done = 0;
  for (let failures = 0; done < bytes; ) {
    const silence = new Silence(signal);
    let retryAfter: number | null = null;
    try {
      const response = await fetch(`${client.url}/${of}/${encodeURIComponent(current)}/content`, {
        headers: { ...client.headers(), ...(done > 0 ? { Range: `bytes=${done}-` } : {}) },
        redirect: "manual",
        signal: silence.signal,
      });
      retryAfter = parseRetryAfter(response.headers.get("Retry-After"), Date.now());
      if (response.status === (done > 0 ? 206 : 200) && response.body) {
        for await (const piece of response.body as AsyncIterable<Uint8Array>) {
          silence.end();
          if (piece.length > bytes - done)
            throw new ArtifactRefused(null, "the service sent more bytes than it announced");
          done += piece.length;
          failures = 0;
          yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
          // All bytes have arrived, so it does not matter whether the connection stays open or breaks.
          if (done === bytes) return;
          silence.begin();
        }
      } else {
        await response.body?.cancel();
        const { status } = response;
        if (status === 403 || status === 410) current = await renew();
        else if (status < 500 && status !== 429 && status !== 408)
          throw new ArtifactRefused(status, `the service rejected the download (${status})`);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ArtifactRefused) throw error;
      if (done === bytes) return;
      logger.warn(`a download stopped after ${done} of ${bytes} bytes; retrying`);
    } finally {
      silence.end();
    }
    if (++failures === TRIES) throw new ArtifactRefused(null, "the download made no progress");
    const wait = { retry: failures - 1, retryAfter, isCut: false, backOff, random: Math.random() };
    await delay(retryDelay(wait), undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Aborts a request that receives no bytes. */
class Silence {
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#controller.signal]);
    this.begin();
  }

  begin(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), SILENCE);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
