import { keyIdOf } from "../../crypto/keyring.ts";
import type { PartOfLog } from "../../domain/failure/error-lines.ts";
import { log } from "../../log.ts";
import { Masker } from "../../mask/mask.ts";
import { HOP_HEADERS } from "../../protocol/headers.ts";
import { EventId } from "../../protocol/log.ts";
import { MIB } from "../../protocol/units.ts";
import { openPool } from "../pool-calls.ts";
import { VersionedObject } from "../versioned-object.ts";
import { BuildLogFollowers } from "./followers.ts";
import { LogMasking, type Masking, maskBytes } from "./masking.ts";
import { LogMove } from "./move.ts";
import { BuildLogStore, type PieceTime } from "./store.ts";
import { type LogInfo, LogText, type ReadRange } from "./text.ts";
import { type LogResult, LogTurns, refuse, success } from "./turns.ts";
import type { Ended, LogSegment } from "./values.ts";

/** The maximum number of characters of one lease's values to mask, as JSON. The sealed values must fit into one row. */
const MASKS_LIMIT = MIB;
/** The agent that writes, by its lease's fence and its token's SHA-256. */
export interface Writer {
  fence: number;
  tokenHash: string;
}

/** The day (UTC) on which the job ended, and the log's owner if the object's name does not have it. */
type EndedBuild = Pick<Ended, "day"> & Partial<Ended>;

const LEASE_LOST = refuse("lease-lost", "The lease is no longer current for this build's log.");

/**
 * The log of one job. Only the latest lease can write. The log masks bytes before it stores or sends them. It
 * acknowledges bytes only after the masker released them, because the object may lose its memory at any time.
 */
export class BuildLog extends VersionedObject {
  readonly #store: BuildLogStore;
  readonly #followers: BuildLogFollowers;
  readonly #text: LogText;
  readonly #masking: LogMasking;
  readonly #turns: LogTurns;
  readonly #move: LogMove;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new BuildLogStore(ctx.storage);
    this.#followers = new BuildLogFollowers(ctx, this.#store);
    this.#masking = new LogMasking(ctx.id.toString(), () => this.env);
    this.#text = new LogText(this.#store, () => this.env.ARCHIVE);
    this.#turns = new LogTurns(this.#masking, this.#store);
    const parts = { store: this.#store, text: this.#text, masking: this.#masking, followers: this.#followers };
    this.#move = new LogMove({ storage: ctx.storage, turns: this.#turns, ...parts });
  }

  /**
   * Opens the log for a lease and closes it for earlier leases. If the log is already open for the lease, only
   * replaces the lease's secrets.
   */
  async open(lease: Writer & { attempt: number; secrets: string[] }): Promise<LogResult<null>> {
    const { fence, tokenHash, attempt, secrets } = lease;
    return this.#turns.take(async () => {
      const current = this.#store.current();
      if (fence <= this.#store.closedFence || fence < (current?.fence ?? 0)) return LEASE_LOST;
      const existing = current?.fence === fence ? current : undefined;
      if (existing && existing.tokenHash !== tokenHash) return LEASE_LOST;
      const sealed = await this.#masking.seal(fence, JSON.stringify(secrets));
      const position = new Masker([]).position;
      const empty = { fence, tokenHash, attempt, position, size: 0, isFull: false, leakedTo: 0 };
      this.#masking.forget();
      this.#store.save({ ...(existing ?? empty), sealed });
      this.#store.forgetSecretsBefore(fence);
      this.#followers.sendNews();
      return success(null);
    });
  }

  /**
   * Appends bytes at `offset`, which counts the bytes that this lease sent. The next chunk starts at `next`. `leaked`
   * means that these bytes had a secret that the agent did not mask. `followed` means that somebody follows the log. A
   * repeated chunk gets the same answer.
   */
  async append(
    chunk: Writer & { offset: number; bytes: Uint8Array; final: boolean },
  ): Promise<LogResult<{ next: number; leaked: boolean; followed: boolean }>> {
    const { offset, bytes, final } = chunk;
    return this.#turns.take(async () => {
      const segment = this.#writable(chunk);
      if (!segment) return LEASE_LOST;
      const masking = segment.isFull ? null : await this.#masking.resume(segment);
      const end = offset + bytes.length;
      const received = masking?.received ?? segment.position.offset;
      if (offset > received) return refuse("log-gap", "Bytes before this chunk are missing.", segment.position.offset);
      if (masking) {
        const unseen = bytes.subarray(Math.min(bytes.length, received - offset));
        this.#write(segment, masking, unseen, final && end >= received);
      }
      if (segment.isFull) this.#skip(segment, Math.max(end, received));
      this.#followers.sendNews();
      const { position, leakedTo } = segment;
      return success({ next: position.offset, leaked: offset < leakedTo, followed: this.#followers.isAny });
    });
  }

  /**
   * Adds values to mask in all bytes that the log has not acknowledged yet.
   * @returns `texts`, such as names of steps, masked with these values
   */
  async addMasks(masks: Writer & { values: string[]; texts?: string[] }): Promise<LogResult<string[]>> {
    return this.#turns.take(async () => {
      const segment = this.#writable(masks);
      if (!segment) return LEASE_LOST;
      const earlier = await this.#masking.openSecrets(segment);
      const all = new Set([...earlier, ...masks.values]);
      if (all.size > new Set(earlier).size) {
        const secrets = JSON.stringify([...all]);
        if (secrets.length > MASKS_LIMIT) return refuse("too-large", "There are too many values to mask.");
        segment.sealed = await this.#masking.seal(segment.fence, secrets);
        this.#masking.forget();
        this.#store.save(segment);
      }
      return success(await this.#masking.maskTexts(segment, masks.texts ?? []));
    });
  }

  /** Masks the agent's texts, such as names of steps, with the same values as its log. */
  async maskTexts(request: Writer & { texts: string[] }): Promise<LogResult<string[]>> {
    return this.#turns.take(async () => {
      const segment = this.#writable(request);
      if (!segment) return LEASE_LOST;
      return success(await this.#masking.maskTexts(segment, request.texts));
    });
  }

  /**
   * Finds the line in this part of the log that says why a job failed. Returns null if there is no such line, or if
   * another lease writes.
   */
  async failedLine({ fence, start, end }: Pick<Writer, "fence"> & PartOfLog): Promise<string | null> {
    return this.#text.failedLine(fence, { start, end });
  }

  /**
   * Closes the log for leases up to this fence: they cannot write any more, and the log deletes their secrets. `ended`
   * says that the job has ended, too, and on which day (UTC). An hour later the log moves to the archive.
   */
  async close({ fence, ended = null }: { fence: number; ended?: EndedBuild | null }): Promise<void> {
    await this.#turns.take(async () => {
      const isNews = fence > this.#store.closedFence;
      const isEnd = ended !== null && this.#store.current() !== undefined && !this.#store.ended;
      if (isEnd || (isNews && (fence > 0 || this.#store.isLaid)))
        this.#store.close(fence, isEnd ? this.#withOwner(ended) : null);
      this.#masking.forget();
      const isTombstone = isNews && this.#store.isLaid && !this.#store.current();
      if (isEnd || isTombstone) await this.#move.schedule();
      this.#followers.sendNews();
      if (!this.#store.current() && (fence === 0 || ended)) this.#followers.endAll();
      return success(null);
    });
  }

  /** Moves the log of a job that ended long ago to the archive at once. @throws if the archive is unavailable */
  async archive(ended: EndedBuild): Promise<void> {
    const last = this.#store.current();
    if (last) await this.close({ fence: Math.max(last.fence, this.#store.closedFence), ended });
    await this.#move.run();
  }

  override async alarm(): Promise<void> {
    await this.#move.onAlarm();
  }

  /** Returns the size and state of each attempt, the latest last. */
  async info(): Promise<LogInfo> {
    return this.#text.info();
  }

  /** Returns when the log stored the pieces of an attempt, or of the latest one; null if there is no such log. */
  async times({ attempt }: { attempt?: number }): Promise<PieceTime[] | null> {
    return this.#text.times(attempt ?? null);
  }

  /**
   * Reads the stored bytes of an attempt, or of the latest one, from `start` to before `end`. Attempt 0 means that this
   * object has no log.
   */
  async read(range: ReadRange = {}) {
    return this.#text.read(range);
  }

  /**
   * Opens a follower's socket at `?from=OFFSET` or `?from=ATTEMPT:OFFSET`; `&attempt=N` follows only that attempt.
   * `protocol/log.ts` describes the messages. With `&ended=1`, the answer is 404 if this object does not have the log,
   * because no agent writes to the log any more.
   */
  override async fetch(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams;
    const isLive = this.#isLive();
    if (!isLive && !this.#store.current() && query.has("ended")) return new Response(null, { status: 404 });
    if (isLive && !this.#followers.isAny) this.ctx.waitUntil(this.#reportFollower());
    const from = EventId.parse(query.get("from") ?? "0");
    const pinned = query.get("attempt");
    const token = request.headers.get(HOP_HEADERS.tokenHash) ?? "";
    if (pinned === null) return this.#followers.accept({ ...from, isPinned: false, token }, Date.now());
    const attempt = Number(pinned);
    const offset = from.attempt === null || from.attempt === attempt ? from.offset : 0;
    return this.#followers.accept({ attempt, offset, isPinned: true, token }, Date.now());
  }

  /**
   * Notifies the job's agent, through its pool, that somebody began to follow. If the notice is lost, the follower only
   * waits longer.
   */
  async #reportFollower(): Promise<void> {
    const { orgId, jobId } = this.#owner;
    try {
      await openPool(this.env, orgId).followed({ jobId });
    } catch (error) {
      log.warn("log.follower_unannounced", { orgId, jobId, error });
    }
  }

  /** Reports whether a lease can still write. */
  #isLive(): boolean {
    return (this.#store.current()?.fence ?? -1) > this.#store.closedFence;
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#followers.receive(socket, message);
  }

  override webSocketClose(socket: WebSocket): void {
    socket.close();
  }

  /** Returns the id of the key that sealed the secrets; null once the log is closed. */
  async sealedWith(): Promise<string | null> {
    const sealed = this.#store.segments().findLast((segment) => segment.sealed !== null)?.sealed;
    return sealed ? keyIdOf(sealed) : null;
  }

  /** Reseals the secrets under the current key. @returns that key's id, or null if the log stores no secrets */
  async rewrap(): Promise<LogResult<{ keyId: string | null; isChanged: boolean }>> {
    return this.#turns.take(async () => {
      return success(await this.#masking.rewrap(this.#store));
    });
  }

  /** Deletes the whole log at the end of its retention. Leaves nothing on disk. */
  async purge(): Promise<void> {
    await this.#move.purge();
  }

  /**
   * Deletes the log because a person requested it. For an hour, agents cannot write to it; after that, nothing is left.
   */
  async remove(): Promise<void> {
    await this.#move.remove();
  }

  /** Adds the owner, which the log stores with the end. An object that its alarm woke up may not know its name. */
  #withOwner({ day, orgId, jobId }: EndedBuild): Ended {
    return { day, orgId: orgId ?? this.#owner.orgId, jobId: jobId ?? this.#owner.jobId };
  }

  get #owner(): { orgId: string; jobId: string } {
    const [orgId = "", jobId = ""] = this.ctx.id.name?.split("/") ?? [];
    return { orgId, jobId };
  }

  /** Masks and stores bytes. It is synchronous, and is therefore one transaction. */
  #write(segment: LogSegment, masking: Masking, bytes: Uint8Array, final: boolean): void {
    const { masker } = masking;
    const hits = masker.hits;
    const masked = maskBytes(masking, bytes, final);
    if (masker.position.offset > segment.position.offset)
      this.#store.write(segment, masked, masker.position, Date.now());
    if (masker.hits > hits) {
      segment.leakedTo = masking.received;
      this.#store.save(segment);
    }
    if (segment.isFull) this.#masking.forget();
  }

  /** Acknowledges bytes that a full log does not store. */
  #skip(segment: LogSegment, offset: number): void {
    if (offset === segment.position.offset) return;
    segment.position = { ...segment.position, offset };
    this.#store.save(segment);
  }

  /** Returns the segment of the writer's lease, if this lease can write. */
  #writable({ fence, tokenHash }: Writer): LogSegment | null {
    const current = this.#store.current();
    if (current?.fence !== fence || current.tokenHash !== tokenHash || fence <= this.#store.closedFence) return null;
    return current;
  }
}
