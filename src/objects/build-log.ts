import { DurableObject } from "cloudflare:workers";
import { type Keyring, KeyUnknown, loadKeyring, SealBroken } from "../crypto/keyring.ts";
import { KeysUnusable } from "../crypto/keys.ts";
import { keyIdOf } from "../crypto/seal-format.ts";
import { compile, Masker, maskText, type Needles } from "../domain/mask/mask.ts";
import { EventId } from "../protocol/follow.ts";
import { HOP_HEADERS } from "../protocol/headers.ts";
import type { ProblemKind } from "../protocol/problem.ts";
import { BuildLogFollowers, isComplete, shownSegment } from "./build-log-followers.ts";
import { BuildLogStore, type Segment } from "./build-log-store.ts";

/** Characters of all values to mask of one lease, as JSON: sealed they must fit into one row. */
const MASKS_LIMIT = 1024 * 1024;
/** Bytes of one chunk of a read. */
const READ_CHUNK = 256 * 1024;

interface LogRefusal {
  kind: Extract<ProblemKind, "lease-lost" | "log-gap" | "not-found" | "too-large" | "keyring-unavailable">;
  detail: string;
  expectedOffset?: number;
}
export type LogResult<T> = { ok: true; value: T } | { ok: false; refusal: LogRefusal };

/** The agent that writes: the fence of its lease, and the SHA-256 of its token. */
export interface Writer {
  fence: number;
  tokenHash: string;
}

/** An active masker, and how many bytes of the lease it has received: it may hold some of them back. */
interface Masking {
  fence: number;
  needles: Needles;
  masker: Masker;
  received: number;
}

const success = <T>(value: T): LogResult<T> => ({ ok: true, value });
const refused = (kind: LogRefusal["kind"], detail: string, expectedOffset?: number): LogResult<never> => ({
  ok: false,
  refusal: { kind, detail, expectedOffset },
});
const LEASE_LOST = refused("lease-lost", "The lease is no longer current for this build's log.");

/**
 * The log of one build. Only the latest lease may write. Bytes are masked before they are stored or sent on, and
 * acknowledged only after the masker released them, so the object may lose its memory at any time.
 */
export class BuildLog extends DurableObject<Env> {
  readonly #store: BuildLogStore;
  readonly #followers: BuildLogFollowers;
  #masking: Masking | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new BuildLogStore(ctx.storage);
    this.#followers = new BuildLogFollowers(ctx, this.#store);
  }

  /** Opens the log for a lease, and closes it for earlier ones. The same lease again only replaces the secrets. */
  async open(lease: Writer & { attempt: number; secrets: string[] }): Promise<LogResult<null>> {
    const { fence, tokenHash, attempt, secrets } = lease;
    return this.#exclusively(async () => {
      const current = this.#store.current();
      if (fence <= this.#store.closedFence || fence < (current?.fence ?? 0)) return LEASE_LOST;
      const existing = current?.fence === fence ? current : undefined;
      if (existing && existing.tokenHash !== tokenHash) return LEASE_LOST;
      const sealed = await this.#keyring.seal(JSON.stringify(secrets), this.#context(fence));
      const position = new Masker([]).position;
      const empty = { fence, tokenHash, attempt, position, size: 0, isFull: false, leakedTo: 0 };
      this.#masking = null;
      this.#store.save({ ...(existing ?? empty), sealed });
      this.#store.forgetSecretsBefore(fence);
      this.#followers.sendNews();
      return success(null);
    });
  }

  /**
   * Appends bytes at `offset`, which counts the bytes that this lease sent. The next chunk starts at `next`. `leaked`
   * means that these bytes had a secret that the agent did not mask; a repeated chunk gets the same answer.
   */
  async append(
    chunk: Writer & { offset: number; bytes: Uint8Array; final: boolean },
  ): Promise<LogResult<{ next: number; leaked: boolean }>> {
    const { offset, bytes, final } = chunk;
    return this.#exclusively(async () => {
      const segment = this.#writable(chunk);
      if (!segment) return LEASE_LOST;
      const masking = segment.isFull ? null : await this.#maskingOf(segment);
      const end = offset + bytes.length;
      const received = masking?.received ?? segment.position.offset;
      if (offset > received) return refused("log-gap", "Bytes before this chunk are missing.", segment.position.offset);
      if (masking) {
        const unseen = bytes.subarray(Math.min(bytes.length, received - offset));
        this.#write(segment, masking, unseen, final && end >= received);
      }
      if (segment.isFull) segment.position = { ...segment.position, offset: Math.max(end, received) };
      this.#store.save(segment);
      this.#followers.sendNews();
      return success({ next: segment.position.offset, leaked: offset < segment.leakedTo });
    });
  }

  /** Adds values to mask in all bytes that are not acknowledged yet. */
  async addMasks(masks: Writer & { values: string[] }): Promise<LogResult<null>> {
    return this.#exclusively(async () => {
      const segment = this.#writable(masks);
      if (!segment) return LEASE_LOST;
      const earlier = await this.#secretsOf(segment);
      const secrets = JSON.stringify([...new Set([...earlier, ...masks.values])]);
      if (secrets.length > MASKS_LIMIT) return refused("too-large", "There are too many values to mask.");
      segment.sealed = await this.#keyring.seal(secrets, this.#context(segment.fence));
      this.#masking = null;
      this.#store.save(segment);
      return success(null);
    });
  }

  /** Masks texts that the agent sent, such as names of steps, like its log. */
  async maskTexts(request: Writer & { texts: string[] }): Promise<LogResult<string[]>> {
    return this.#exclusively(async () => {
      const segment = this.#writable(request);
      if (!segment) return LEASE_LOST;
      const { needles } = await this.#maskingOf(segment);
      return success(request.texts.map((text) => maskText(needles, text)));
    });
  }

  /** Closes the log for leases up to this fence: nothing more is written, and their secrets are deleted. */
  async close({ fence }: { fence: number }): Promise<void> {
    await this.#exclusively(async () => {
      this.#store.close(fence);
      this.#masking = null;
      this.#followers.sendNews();
      return success(null);
    });
  }

  /** Size and state of each attempt, the latest last. */
  async info(): Promise<{ attempts: { attempt: number; size: number; isComplete: boolean }[]; isComplete: boolean }> {
    const state = this.#store.state();
    const { segments } = state;
    const attempts = [...new Set(segments.map(({ attempt }) => attempt))].map((attempt) => {
      const segment = shownSegment(segments, attempt);
      return { attempt, size: segment?.size ?? 0, isComplete: isComplete(segment, state) };
    });
    return { attempts, isComplete: isComplete(segments.at(-1), state) };
  }

  /** The stored bytes from `start` to before `end` of an attempt, or of the latest one. */
  async read(range: { attempt?: number; start?: number; end?: number } = {}) {
    const state = this.#store.state();
    const segment = shownSegment(state.segments, range.attempt ?? null);
    if (!segment && range.attempt !== undefined) return refused("not-found", "There is no such attempt.");
    const size = segment?.size ?? 0;
    const end = Math.min(range.end ?? size, size);
    const start = Math.min(range.start ?? 0, end);
    const complete = isComplete(segment, state);
    const body = this.#stream(segment?.fence ?? 0, start, end);
    return success({ attempt: segment?.attempt ?? 0, size, isComplete: complete, start, end, body });
  }

  /**
   * Opens a follower's socket at `?from=OFFSET` or `?from=ATTEMPT:OFFSET`; `&attempt=N` follows only that attempt.
   * `protocol/follow.ts` has the messages.
   */
  override async fetch(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams;
    const from = EventId.parse(query.get("from") ?? "0");
    const pinned = query.get("attempt");
    const token = request.headers.get(HOP_HEADERS.tokenHash) ?? "";
    if (pinned === null) return this.#followers.accept({ ...from, isPinned: false, token }, Date.now());
    const attempt = Number(pinned);
    const offset = from.attempt === null || from.attempt === attempt ? from.offset : 0;
    return this.#followers.accept({ attempt, offset, isPinned: true, token }, Date.now());
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#followers.receive(socket, message);
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  /** The id of the key that sealed the secrets; null once the log is closed. */
  async sealedWith(): Promise<string | null> {
    const sealed = this.#store.segments().findLast((segment) => segment.sealed !== null)?.sealed;
    return sealed ? keyIdOf(sealed) : null;
  }

  /** Seals secrets again under the current key. @returns that key's id, or null where no secrets are stored */
  async rewrap(): Promise<LogResult<{ keyId: string | null; isChanged: boolean }>> {
    return this.#exclusively(async () => {
      let isChanged = false;
      let keyId: string | null = null;
      for (const segment of this.#store.segments()) {
        if (segment.sealed === null) continue;
        keyId = this.#keyring.current;
        if (keyIdOf(segment.sealed) === keyId) continue;
        const context = this.#context(segment.fence);
        this.#store.save({
          ...segment,
          sealed: await this.#keyring.seal(await this.#keyring.open(segment.sealed, context), context),
        });
        isChanged = true;
      }
      return success({ keyId, isChanged });
    });
  }

  /** Deletes the whole log, at the end of its retention. */
  async purge(): Promise<void> {
    await this.#exclusively(async () => {
      this.#masking = null;
      this.#followers.closeAll();
      await this.#store.deleteAll();
      return success(null);
    });
  }

  /** Masks and stores. Synchronous, so that it is one transaction. */
  #write(segment: Segment, masking: Masking, bytes: Uint8Array, final: boolean): void {
    const { masker } = masking;
    const hits = masker.hits;
    this.#store.write(segment, masker.push(bytes));
    if (final) this.#store.write(segment, masker.end());
    masking.received += bytes.length;
    segment.position = masker.position;
    if (masker.hits > hits) segment.leakedTo = masking.received;
    if (segment.isFull) this.#masking = null;
  }

  /** The segment of the writer's lease, if this lease may write. */
  #writable({ fence, tokenHash }: Writer): Segment | null {
    const current = this.#store.current();
    if (current?.fence !== fence || current.tokenHash !== tokenHash || fence <= this.#store.closedFence) return null;
    return current;
  }

  async #maskingOf(segment: Segment): Promise<Masking> {
    if (this.#masking?.fence === segment.fence) return this.#masking;
    const needles = compile(await this.#secretsOf(segment));
    const masker = new Masker(needles, segment.position);
    this.#masking = { fence: segment.fence, needles, masker, received: segment.position.offset };
    return this.#masking;
  }

  async #secretsOf({ sealed, fence }: Segment): Promise<string[]> {
    return sealed === null ? [] : JSON.parse(await this.#keyring.openText(sealed, this.#context(fence)));
  }

  get #keyring(): Keyring {
    return loadKeyring(this.env.SECRETS_KEYS);
  }

  #context(fence: number): string[] {
    return ["build-log", this.ctx.id.toString(), String(fence)];
  }

  #stream(fence: number, start: number, end: number): ReadableStream<Uint8Array> {
    let at = start;
    return new ReadableStream({
      type: "bytes",
      pull: (controller) => {
        const chunk = at < end ? this.#store.read(fence, at, Math.min(end, at + READ_CHUNK)) : new Uint8Array();
        at += chunk.length;
        if (chunk.length > 0) controller.enqueue(chunk);
        else controller.close();
      },
    });
  }

  /** Runs one call after the other. After an error, drops the masker: it may be ahead of the disk. */
  #exclusively<T>(work: () => Promise<LogResult<T>>): Promise<LogResult<T>> {
    const result = this.#turn.then(async () => {
      try {
        return await work();
      } catch (error) {
        this.#masking = null;
        if (error instanceof KeyUnknown || error instanceof SealBroken || error instanceof KeysUnusable) {
          return refused("keyring-unavailable", "The secrets of this log cannot be opened: a key is missing or wrong.");
        }
        throw error;
      }
    });
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
