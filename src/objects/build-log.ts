import { DurableObject } from "cloudflare:workers";
import { type Keyring, KeyUnknown, loadKeyring, SealBroken } from "../crypto/keyring.ts";
import { KeysUnusable } from "../crypto/keys.ts";
import { keyIdOf } from "../crypto/seal-format.ts";
import { compile, Masker, maskText, type Needles } from "../domain/mask/mask.ts";
import { EventId } from "../protocol/follow.ts";
import { HOP_HEADERS } from "../protocol/headers.ts";
import type { ProblemKind } from "../protocol/problem.ts";
import { BuildLogFollowers, isComplete, shownOf } from "./build-log-followers.ts";
import { BuildLogStore, type Segment } from "./build-log-store.ts";

/** Values to mask that one lease may have, in characters of their JSON text: sealed they must fit in a row. */
const MASKS_LIMIT = 1024 * 1024;
/** Bytes of one piece of a read. */
const PIECE = 256 * 1024;

export interface LogRefusal {
  kind: Extract<ProblemKind, "lease-lost" | "log-gap" | "not-found" | "too-large" | "keyring-unavailable">;
  detail: string;
  expectedOffset?: number;
}
export type LogResult<T> = { ok: true; value: T } | { ok: false; refusal: LogRefusal };

/** Who writes: the lease's fence and the SHA-256 of the agent's token. */
export interface Writer {
  fence: number;
  tokenHash: string;
}

/** A masker at work, and how many bytes of its lease it has been fed: it may hold some of them back. */
interface Masking {
  fence: number;
  needles: Needles;
  masker: Masker;
  fed: number;
}

const done = <T>(value: T): LogResult<T> => ({ ok: true, value });
const refuse = (kind: LogRefusal["kind"], detail: string, expectedOffset?: number): LogResult<never> => ({
  ok: false,
  refusal: { kind, detail, expectedOffset },
});
const LEASE_LOST = refuse("lease-lost", "The lease is no longer current for this build's log.");

/**
 * The log of one build. It judges its writers by the latest fence it was opened with, masks before a byte is stored
 * or sent on, and acknowledges only what the masker has let go: so what it holds in memory may be lost at any time.
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

  /** Lets a lease write, and none before it. The same lease again only replaces what is masked. */
  async open(lease: Writer & { attempt: number; secrets: string[] }): Promise<LogResult<null>> {
    const { fence, tokenHash, attempt, secrets } = lease;
    return this.#inTurn(async () => {
      const current = this.#store.current();
      if (fence <= this.#store.closedFor || fence < (current?.fence ?? 0)) return LEASE_LOST;
      const known = current?.fence === fence ? current : undefined;
      if (known && known.tokenHash !== tokenHash) return LEASE_LOST;
      const sealed = await this.#keyring.seal(JSON.stringify(secrets), this.#context(fence));
      const position = new Masker([]).position;
      const fresh = { fence, tokenHash, attempt, position, size: 0, isFull: false, leakedTo: 0 };
      this.#masking = null;
      this.#store.save({ ...(known ?? fresh), sealed });
      this.#store.forgetBefore(fence);
      this.#followers.wake();
      return done(null);
    });
  }

  /**
   * Takes bytes from `offset` on, counted in what this lease sent; `next` is where to send from. `leaked` says that
   * these bytes had a secret that the agent had let through; it is said again when they are sent again.
   */
  async append(
    chunk: Writer & { offset: number; bytes: Uint8Array; final: boolean },
  ): Promise<LogResult<{ next: number; leaked: boolean }>> {
    const { offset, bytes, final } = chunk;
    return this.#inTurn(async () => {
      const segment = this.#held(chunk);
      if (!segment) return LEASE_LOST;
      const masking = segment.isFull ? null : await this.#maskingOf(segment);
      const end = offset + bytes.length;
      const fed = masking?.fed ?? segment.position.offset;
      if (offset > fed) return refuse("log-gap", "Bytes before this chunk are missing.", segment.position.offset);
      if (masking)
        this.#write(segment, masking, bytes.subarray(Math.min(bytes.length, fed - offset)), final && end >= fed);
      if (segment.isFull) segment.position = { ...segment.position, offset: Math.max(end, fed) };
      this.#store.save(segment);
      this.#followers.wake();
      return done({ next: segment.position.offset, leaked: offset < segment.leakedTo });
    });
  }

  /** Values that are masked from here on, in all that is not yet acknowledged. */
  async addMasks(masks: Writer & { values: string[] }): Promise<LogResult<null>> {
    return this.#inTurn(async () => {
      const segment = this.#held(masks);
      if (!segment) return LEASE_LOST;
      const known = await this.#secretsOf(segment);
      const secrets = JSON.stringify([...new Set([...known, ...masks.values])]);
      if (secrets.length > MASKS_LIMIT) return refuse("too-large", "There are too many values to mask.");
      segment.sealed = await this.#keyring.seal(secrets, this.#context(segment.fence));
      this.#masking = null;
      this.#store.save(segment);
      return done(null);
    });
  }

  /** Texts of the agent's, such as names of steps, masked like its log. */
  async maskTexts(texts: Writer & { texts: string[] }): Promise<LogResult<string[]>> {
    return this.#inTurn(async () => {
      const segment = this.#held(texts);
      if (!segment) return LEASE_LOST;
      const { needles } = await this.#maskingOf(segment);
      return done(texts.texts.map((text) => maskText(needles, text)));
    });
  }

  /** The build has ended, at the latest with this fence: nothing more is written, and what was masked is forgotten. */
  async close({ fence }: { fence: number }): Promise<void> {
    await this.#inTurn(async () => {
      this.#store.close(fence);
      this.#masking = null;
      this.#followers.wake();
      return done(null);
    });
  }

  /** Size and state of each attempt, the latest last. */
  async info(): Promise<{ attempts: { attempt: number; size: number; isComplete: boolean }[]; isComplete: boolean }> {
    const state = this.#store.state();
    const { segments } = state;
    const attempts = [...new Set(segments.map(({ attempt }) => attempt))].map((attempt) => {
      const segment = shownOf(segments, attempt);
      return { attempt, size: segment?.size ?? 0, isComplete: isComplete(segment, state) };
    });
    return { attempts, isComplete: isComplete(segments.at(-1), state) };
  }

  /** Stored bytes `start..end` (exclusive) of an attempt, or of the latest one, as they are now. */
  async read(range: { attempt?: number; start?: number; end?: number } = {}) {
    const state = this.#store.state();
    const segment = shownOf(state.segments, range.attempt ?? null);
    if (!segment && range.attempt !== undefined) return refuse("not-found", "There is no such attempt.");
    const size = segment?.size ?? 0;
    const end = Math.min(range.end ?? size, size);
    const start = Math.min(range.start ?? 0, end);
    const complete = isComplete(segment, state);
    const body = this.#stream(segment?.fence ?? 0, start, end);
    return done({ attempt: segment?.attempt ?? 0, size, isComplete: complete, start, end, body });
  }

  /**
   * A follower's socket (`?from=OFFSET` or `?from=ATTEMPT:OFFSET`; `&attempt=N` for that one only): `protocol/follow.ts`
   * says what is spoken on it.
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
    this.#followers.heard(socket, message);
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  /** The id of the key that sealed what this log masks; null once it is closed. */
  async sealedWith(): Promise<string | null> {
    const sealed = this.#store.segments().findLast((segment) => segment.sealed !== null)?.sealed;
    return sealed ? keyIdOf(sealed) : null;
  }

  /** Seals what is still sealed with an older key anew. @returns the id of the key in use, null when nothing is kept */
  async rewrap(): Promise<LogResult<{ keyId: string | null; isChanged: boolean }>> {
    return this.#inTurn(async () => {
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
      return done({ keyId, isChanged });
    });
  }

  /** The log's time is over: all of it goes. */
  async purge(): Promise<void> {
    await this.#inTurn(async () => {
      this.#masking = null;
      this.#followers.dismiss();
      await this.#store.purge();
      return done(null);
    });
  }

  /** Masks and stores; no waiting in here, so that it is one transaction. */
  #write(segment: Segment, masking: Masking, fresh: Uint8Array, final: boolean): void {
    const { masker } = masking;
    const hits = masker.hits;
    this.#store.write(segment, masker.push(fresh));
    if (final) this.#store.write(segment, masker.end());
    masking.fed += fresh.length;
    segment.position = masker.position;
    if (masker.hits > hits) segment.leakedTo = masking.fed;
    if (segment.isFull) this.#masking = null;
  }

  /** The segment of the writer's lease, if that is the one that may write. */
  #held({ fence, tokenHash }: Writer): Segment | null {
    const current = this.#store.current();
    if (current?.fence !== fence || current.tokenHash !== tokenHash || fence <= this.#store.closedFor) return null;
    return current;
  }

  async #maskingOf(segment: Segment): Promise<Masking> {
    if (this.#masking?.fence === segment.fence) return this.#masking;
    const needles = compile(await this.#secretsOf(segment));
    const masker = new Masker(needles, segment.position);
    this.#masking = { fence: segment.fence, needles, masker, fed: segment.position.offset };
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
        const piece = at < end ? this.#store.read(fence, at, Math.min(end, at + PIECE)) : new Uint8Array();
        at += piece.length;
        if (piece.length > 0) controller.enqueue(piece);
        else controller.close();
      },
    });
  }

  /** One call after the other, whatever they wait for. After a throw memory may be ahead of the disk, so it goes. */
  #inTurn<T>(work: () => Promise<LogResult<T>>): Promise<LogResult<T>> {
    const result = this.#turn.then(async () => {
      try {
        return await work();
      } catch (error) {
        this.#masking = null;
        if (error instanceof KeyUnknown || error instanceof SealBroken || error instanceof KeysUnusable) {
          return refuse("keyring-unavailable", "What this log masks cannot be opened: a key is missing or wrong.");
        }
        throw error;
      }
    });
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
