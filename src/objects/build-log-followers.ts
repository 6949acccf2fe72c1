import { type FollowMessage, MORE } from "../protocol/follow.ts";
import type { BuildLogStore, Segment } from "./build-log-store.ts";

/** Bytes of one message. */
const PIECE = 128 * 1024;

/** Where a follower stands; kept with its socket, so that it outlives the object's sleep. */
interface Follower {
  /** The segment it reads; null before there is one. */
  fence: number | null;
  /** Of a follower that asked for one attempt and no other. */
  attempt: number | null;
  at: number;
  /** It has asked for a message and not been sent it. */
  isWaiting: boolean;
}

/** The segment of the latest attempt that wrote anything; before that, the latest. */
export const shownOf = (segments: Segment[], attempt: number | null): Segment | undefined => {
  const wanted = segments.filter((segment) => attempt === null || segment.attempt === attempt);
  return wanted.findLast((segment) => segment.size > 0) ?? wanted.at(-1);
};

/** Whether the segment will never grow again. */
export const isComplete = (segment: Segment | undefined, store: BuildLogStore): boolean =>
  segment ? segment.fence <= store.closedFor || segment.fence < (store.current()?.fence ?? 0) : store.closedFor >= 0;

/** Sends followers what is new, as hibernating sockets: none of them costs anything while nothing is written. */
export class BuildLogFollowers {
  readonly #ctx: DurableObjectState;
  readonly #store: BuildLogStore;

  constructor(ctx: DurableObjectState, store: BuildLogStore) {
    this.#ctx = ctx;
    this.#store = store;
  }

  /** `attempt` pins the follower to one attempt; `from` is an offset in it, or in the latest one. */
  accept(from: { attempt: number | null; offset: number; isPinned: boolean }): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    const segment = shownOf(this.#store.segments(), from.attempt);
    this.#ctx.acceptWebSocket(server);
    save(server, {
      fence: segment?.fence ?? null,
      attempt: from.isPinned ? from.attempt : null,
      at: Math.min(from.offset, segment?.size ?? 0),
      isWaiting: false,
    });
    return new Response(null, { status: 101, webSocket: client });
  }

  heard(socket: WebSocket, message: string | ArrayBuffer): void {
    if (message !== MORE) return;
    save(socket, { ...read(socket), isWaiting: true });
    this.#advance(socket);
  }

  /** Something was written, opened or closed. */
  wake(): void {
    for (const socket of this.#ctx.getWebSockets()) this.#advance(socket);
  }

  dismiss(): void {
    for (const socket of this.#ctx.getWebSockets()) socket.close(1001, "The log is gone");
  }

  #advance(socket: WebSocket): void {
    const follower = read(socket);
    if (!follower.isWaiting || socket.readyState !== WebSocket.OPEN) return;
    const segments = this.#store.segments();
    const shown = shownOf(segments, follower.attempt);
    const segment = segments.find(({ fence }) => fence === follower.fence) ?? shown;
    const complete = isComplete(segment, this.#store);
    if (segment && follower.at < segment.size) {
      const bytes = this.#store.read(segment.fence, follower.at, Math.min(segment.size, follower.at + PIECE));
      const isLast = complete && follower.at + bytes.length === segment.size;
      const length = isLast ? bytes.length : wholeCharacters(bytes);
      if (length === 0) return;
      const { fence, attempt } = segment;
      const offset = follower.at + length;
      save(socket, { ...follower, fence, at: offset, isWaiting: false });
      send(socket, { type: "text", attempt, offset, text: decoder.decode(bytes.subarray(0, length)) });
    } else if (segment && shown && shown.fence > segment.fence) {
      const isNew = shown.attempt !== segment.attempt;
      save(socket, { ...follower, fence: shown.fence, at: 0, isWaiting: !isNew });
      if (isNew) send(socket, { type: "attempt", attempt: shown.attempt });
      else this.#advance(socket);
    } else if (complete && (follower.attempt !== null || isComplete(this.#store.current(), this.#store))) {
      send(socket, { type: "end" });
      socket.close(1000, "The log is complete");
    }
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
