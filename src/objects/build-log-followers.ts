import { type FollowMessage, MORE } from "../protocol/follow.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { BuildLogStore, Segment } from "./build-log-store.ts";

/** Bytes of one message. */
const PIECE = 128 * 1024;

/** Messages that are kept for the next follower: those at the end of the log ask for the same one. */
const MESSAGES_KEPT = 8;
const POLICY_VIOLATION = 1008;

/** Where a follower stands; kept with its socket, so that it outlives the object's sleep. */
interface Follower {
  /** The segment it reads; null before there is one. */
  fence: number | null;
  /** Of a follower that asked for one attempt and no other. */
  attempt: number | null;
  at: number;
  /** It has asked for a message and not been sent it. */
  isWaiting: boolean;
  /** Milliseconds since 1970. */
  openedAt?: number;
}

/** The log as it stands while its followers are served. */
export interface LogState {
  /** Every lease's segment, the latest last. */
  segments: Segment[];
  /** The highest fence that the log was closed for; -1 while it never was. */
  closedFor: number;
}

/** The segment of the latest attempt that wrote anything; before that, the latest. */
export const shownOf = (segments: Segment[], attempt: number | null): Segment | undefined => {
  const wanted = segments.filter((segment) => attempt === null || segment.attempt === attempt);
  return wanted.findLast((segment) => segment.size > 0) ?? wanted.at(-1);
};

/** Whether the segment will never grow again. */
export const isComplete = (segment: Segment | undefined, { segments, closedFor }: LogState): boolean =>
  segment ? segment.fence <= closedFor || segment.fence < (segments.at(-1)?.fence ?? 0) : closedFor >= 0;

/** Sends followers what is new, as hibernating sockets: none of them costs anything while nothing is written. */
export class BuildLogFollowers {
  readonly #ctx: DurableObjectState;
  readonly #store: BuildLogStore;
  #shared: SharedReads;

  constructor(ctx: DurableObjectState, store: BuildLogStore) {
    this.#ctx = ctx;
    this.#store = store;
    this.#shared = new SharedReads(store);
  }

  /** `attempt` pins the follower to one attempt; `from` is an offset in it, or in the latest one. */
  accept(from: { attempt: number | null; offset: number; isPinned: boolean; token: string }, now: number): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    const segment = shownOf(this.#store.segments(), from.attempt);
    this.#makeRoom(from.token);
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

  #makeRoom(token: string): void {
    const open = this.#ctx.getWebSockets(token).filter((socket) => socket.readyState === WebSocket.OPEN);
    open.sort((one, other) => (read(other).openedAt ?? 0) - (read(one).openedAt ?? 0));
    for (const socket of open.slice(LIMITS.followers - 1))
      socket.close(POLICY_VIOLATION, "A newer follower took its place");
  }

  heard(socket: WebSocket, message: string | ArrayBuffer): void {
    if (message !== MORE) return;
    save(socket, { ...read(socket), isWaiting: true });
    this.#advance(socket);
  }

  /** Something was written, opened or closed. */
  wake(): void {
    this.#shared = new SharedReads(this.#store);
    for (const socket of this.#ctx.getWebSockets()) this.#advance(socket);
  }

  dismiss(): void {
    this.#shared = new SharedReads(this.#store);
    for (const socket of this.#ctx.getWebSockets()) socket.close(1001, "The log is gone");
  }

  #advance(socket: WebSocket): void {
    const follower = read(socket);
    if (!follower.isWaiting || socket.readyState !== WebSocket.OPEN) return;
    const { state } = this.#shared;
    const shown = shownOf(state.segments, follower.attempt);
    const segment = state.segments.find(({ fence }) => fence === follower.fence) ?? shown;
    const complete = isComplete(segment, state);
    if (segment && follower.at < segment.size) {
      const { offset, text } = this.#shared.messageAt(segment, follower.at, complete);
      if (offset === follower.at) return;
      const { fence, attempt } = segment;
      save(socket, { ...follower, fence, at: offset, isWaiting: false });
      send(socket, { type: "text", attempt, offset, text });
    } else if (segment && shown && shown.fence > segment.fence) {
      const isNew = shown.attempt !== segment.attempt;
      save(socket, { ...follower, fence: shown.fence, at: 0, isWaiting: !isNew });
      if (isNew) send(socket, { type: "attempt", attempt: shown.attempt });
      else this.#advance(socket);
    } else if (complete && (follower.attempt !== null || isComplete(state.segments.at(-1), state))) {
      send(socket, { type: "end" });
      socket.close(1000, "The log is complete");
    }
  }
}

/** What followers have in common until the log changes, asked of the store once however many they are. */
class SharedReads {
  readonly #store: BuildLogStore;
  #state: LogState | undefined;
  /** The latest messages, by where they begin. */
  readonly #messages = new Map<string, { offset: number; text: string }>();

  constructor(store: BuildLogStore) {
    this.#store = store;
  }

  get state(): LogState {
    this.#state ??= this.#store.state();
    return this.#state;
  }

  /** The text from `at` on, as far as one message goes, and where the next one begins. */
  messageAt({ fence, size }: Segment, at: number, complete: boolean): { offset: number; text: string } {
    const place = `${fence}:${at}`;
    const known = this.#messages.get(place);
    if (known) return known;
    const bytes = this.#store.read(fence, at, Math.min(size, at + PIECE));
    const isLast = complete && at + bytes.length === size;
    const length = isLast ? bytes.length : wholeCharacters(bytes);
    const message = { offset: at + length, text: decoder.decode(bytes.subarray(0, length)) };
    this.#messages.set(place, message);
    for (const old of this.#messages.keys()) if (this.#messages.size > MESSAGES_KEPT) this.#messages.delete(old);
    return message;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const read = (socket: WebSocket): Follower => socket.deserializeAttachment();
const save = (socket: WebSocket, follower: Follower): void => socket.serializeAttachment(follower);
const send = (socket: WebSocket, message: FollowMessage): void => socket.send(JSON.stringify(message));

/** Bytes up to the last whole character of UTF-8: a character that a chunk has cut waits for its other half. */
export const wholeCharacters = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};
