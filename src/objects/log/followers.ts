import { wholeCharacters } from "../../domain/text.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type FollowMessage, MORE } from "../../protocol/log.ts";
import { KIB } from "../../protocol/units.ts";
import type { BuildLogStore } from "./store.ts";
import type { LogSegment } from "./values.ts";

/** Maximum bytes of one message. */
const MESSAGE_SIZE = 128 * KIB;

/** Messages in the cache. All followers at the end of the log need the same message. */
const CACHED_MESSAGES = 8;
const POLICY_VIOLATION = 1008;

/** A follower's position. The object stores it with its socket, so that it survives hibernation. */
interface Follower {
  /** The segment that the follower reads; null before there is one. */
  fence: number | null;
  /** The attempt, if the follower reads only one. */
  attempt: number | null;
  /** Offset of the next byte in the segment. */
  at: number;
  /** Whether the follower requested a message and still waits for it. */
  isWaiting: boolean;
  /** Milliseconds since 1970. */
  openedAt?: number;
}

/** The state of the log that decides what followers get. */
interface LogState {
  /** The segments of all leases, the latest last. */
  segments: LogSegment[];
  /** The highest fence for which the log was closed; -1 if the log was never closed. */
  closedFence: number;
}

/**
 * Returns the segment to show: the latest one with bytes, or the latest one if none has bytes. `attempt` restricts the
 * choice to one attempt.
 */
export const shownSegment = (segments: LogSegment[], attempt: number | null): LogSegment | undefined => {
  const candidates = segments.filter((segment) => attempt === null || segment.attempt === attempt);
  return candidates.findLast((segment) => segment.size > 0) ?? candidates.at(-1);
};

/** Reports whether the segment can no longer grow. */
export const isComplete = (segment: LogSegment | undefined, { segments, closedFence }: LogState): boolean =>
  segment ? segment.fence <= closedFence || segment.fence < (segments.at(-1)?.fence ?? 0) : closedFence >= 0;

/** Sends new bytes to followers. Their sockets hibernate, so a quiet log costs nothing. */
export class BuildLogFollowers {
  readonly #ctx: DurableObjectState;
  readonly #store: BuildLogStore;
  #cache: LogCache;

  constructor(ctx: DurableObjectState, store: BuildLogStore) {
    this.#ctx = ctx;
    this.#store = store;
    this.#cache = new LogCache(store);
  }

  /**
   * Accepts a follower. `attempt` pins the follower to one attempt; `from` is an offset in that attempt, or in the
   * latest one.
   */
  accept(from: { attempt: number | null; offset: number; isPinned: boolean; token: string }, now: number): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    const segment = shownSegment(this.#store.segments(), from.attempt);
    this.#closeOldest(from.token);
    this.#ctx.acceptWebSocket(server, [from.token]);
    save(server, {
      fence: segment?.fence ?? null,
      attempt: from.isPinned ? from.attempt : null,
      at: Math.min(from.offset, segment?.size ?? 0),
      isWaiting: false,
      openedAt: now,
    });
    return new Response(null, { status: 101, webSocket: client });
  }

  #closeOldest(token: string): void {
    const open = this.#ctx.getWebSockets(token).filter(isOpen);
    open.sort((one, other) => (read(other).openedAt ?? 0) - (read(one).openedAt ?? 0));
    for (const socket of open.slice(LIMITS.followers - 1))
      socket.close(POLICY_VIOLATION, "A newer follower took its place");
  }

  receive(socket: WebSocket, message: string | ArrayBuffer): void {
    if (message !== MORE) return;
    save(socket, { ...read(socket), isWaiting: true });
    this.#advance(socket);
  }

  /** Sends news to all followers after a lease wrote, opened or closed the log. */
  sendNews(): void {
    this.#cache = new LogCache(this.#store);
    for (const socket of this.#ctx.getWebSockets()) this.#advance(socket);
  }

  /** Whether anybody follows the log. */
  get isAny(): boolean {
    return this.#ctx.getWebSockets().some(isOpen);
  }

  /** Notifies followers that wait for the first byte that no byte will arrive. */
  endAll(): void {
    for (const socket of this.#ctx.getWebSockets().filter(isOpen)) end(socket);
  }

  /** Sends the followers to the archive, where each of them continues at its position. */
  sendMoved(): void {
    for (const socket of this.#ctx.getWebSockets().filter(isOpen)) send(socket, { type: "moved" });
    this.closeAll("The log is in the archive");
  }

  closeAll(reason = "The log is gone"): void {
    this.#cache = new LogCache(this.#store);
    for (const socket of this.#ctx.getWebSockets().filter(isOpen)) socket.close(1001, reason);
  }

  #advance(socket: WebSocket): void {
    const follower = read(socket);
    if (!follower.isWaiting || !isOpen(socket)) return;
    const { state } = this.#cache;
    const latest = shownSegment(state.segments, follower.attempt);
    const segment = state.segments.find(({ fence }) => fence === follower.fence) ?? latest;
    const complete = isComplete(segment, state);
    if (segment && follower.at < segment.size) {
      const { offset, text } = this.#cache.messageAt(segment, follower.at, complete);
      if (offset === follower.at) return;
      const { fence, attempt } = segment;
      save(socket, { ...follower, fence, at: offset, isWaiting: false });
      send(socket, { type: "text", attempt, offset, text });
    } else if (segment && latest && latest.fence > segment.fence) {
      const isNew = latest.attempt !== segment.attempt;
      save(socket, { ...follower, fence: latest.fence, at: 0, isWaiting: !isNew });
      if (isNew) send(socket, { type: "attempt", attempt: latest.attempt });
      else this.#advance(socket);
    } else if (complete && (follower.attempt !== null || isComplete(state.segments.at(-1), state))) {
      end(socket);
    }
  }
}

/** The reads of all followers until the log changes. The store serves each read only once. */
class LogCache {
  readonly #store: BuildLogStore;
  #state: LogState | undefined;
  /** The latest messages, by fence and offset. */
  readonly #messages = new Map<string, { offset: number; text: string }>();

  constructor(store: BuildLogStore) {
    this.#store = store;
  }

  get state(): LogState {
    this.#state ??= this.#store.state();
    return this.#state;
  }

  /** Returns the text of the message at offset `at`, and the offset of the next message. */
  messageAt({ fence, size }: LogSegment, at: number, complete: boolean): { offset: number; text: string } {
    const key = `${fence}:${at}`;
    const cached = this.#messages.get(key);
    if (cached) return cached;
    const bytes = this.#store.read(fence, at, Math.min(size, at + MESSAGE_SIZE));
    const isLast = complete && at + bytes.length === size;
    const length = isLast ? bytes.length : wholeCharacters(bytes);
    const message = { offset: at + length, text: decoder.decode(bytes.subarray(0, length)) };
    this.#messages.set(key, message);
    for (const old of this.#messages.keys()) if (this.#messages.size > CACHED_MESSAGES) this.#messages.delete(old);
    return message;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const read = (socket: WebSocket): Follower => socket.deserializeAttachment();
const save = (socket: WebSocket, follower: Follower): void => socket.serializeAttachment(follower);
const send = (socket: WebSocket, message: FollowMessage): void => socket.send(JSON.stringify(message));

const isOpen = (socket: WebSocket): boolean => socket.readyState === WebSocket.OPEN;

const end = (socket: WebSocket): void => {
  send(socket, { type: "end" });
  socket.close(1000, "The log is complete");
};
