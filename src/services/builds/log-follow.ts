import { type ArchivedLog, listLogs, readLogText, shownLog } from "../../archive/logs.ts";
import { wholeCharacters } from "../../domain/text.ts";
import { HOP_HEADERS } from "../../protocol/headers.ts";
import { EventId, FollowMessage, MORE } from "../../protocol/log.ts";
import type { Context } from "../core/context.ts";
import { reaching } from "../core/outage.ts";
import { logDeleted, Refusal } from "../core/refusal.ts";
import { findLog, findLogOwner, isLongEnded } from "./build-jobs.ts";

type Messages = AsyncGenerator<FollowMessage, void>;

/** A log's messages, each of which is fetched on demand. `stop` ends them at any time. */
export interface Following {
  messages: Messages;
  stop(): void;
}

/** A follower's position: an offset in a given attempt, or in the attempt that the log shows. */
interface Position {
  attempt: number | null;
  offset: number;
}

/** Follows a log to its end, wherever the log is, even while it moves. @throws Refusal not-found */
export const followLog = async (
  context: Context,
  id: string,
  attempt: number | undefined,
  from: string,
): Promise<Following> => {
  const job = await findLog(context, id);
  if (job.isLogDeleted) throw logDeleted();
  const position = EventId.parse(from);
  const owner = findLogOwner(job);
  const inArchive = (logs: ArchivedLog[]) => follow(archivedMessages(context.archive, logs, position, attempt));
  if (owner && isLongEnded(context, job)) {
    const logs = await listLogs(context.archive, owner).catch(() => []);
    if (logs.length > 0) return inArchive(logs);
  }
  const socket = await openSocket(context, job.id, { attempt, from, hasEnded: owner !== null });
  if (socket) return acrossTheMove(followed(socket), position, (at) => rest(context, id, at, attempt));
  const logs = owner ? await reaching(listLogs(context.archive, owner)) : [];
  if (logs.length === 0 && job.attempt > 0) throw logDeleted();
  return inArchive(logs);
};

/** Opens the follower's socket to the log's object. Returns null if the object has no log and will never have one. */
const openSocket = async (
  context: Context,
  jobId: string,
  { attempt, from, hasEnded }: { attempt: number | undefined; from: string; hasEnded: boolean },
): Promise<WebSocket | null> => {
  const query = new URLSearchParams({ from });
  if (attempt !== undefined) query.set("attempt", String(attempt));
  if (hasEnded) query.set("ended", "1");
  const { webSocket, status } = await context.objects.log(context.orgId, jobId).fetch(`https://log/follow?${query}`, {
    headers: { Upgrade: "websocket", [HOP_HEADERS.tokenHash]: context.caller.tokenHash },
  });
  if (webSocket || status === 404) return webSocket;
  throw new Refusal("unavailable", "Cannot follow the log right now: try again.", { retryAfterSeconds: 5 });
};

/** Returns the messages that a follower gets through its socket. */
export const followed = (socket: WebSocket): Following => {
  const inbox: FollowMessage[] = [];
  let isOpen = true;
  let wake = () => {};
  const end = () => {
    isOpen = false;
    socket.close();
    wake();
  };
  socket.accept();
  socket.addEventListener("close", end);
  socket.addEventListener("message", ({ data }) => {
    inbox.push(FollowMessage.parse(JSON.parse(String(data))));
    wake();
  });
  const messages = async function* (): Messages {
    while (isOpen || inbox.length > 0) {
      const message = inbox.shift();
      if (message) {
        yield message;
      } else {
        socket.send(MORE);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  };
  return { messages: messages(), stop: end };
};

/** Follows a live log. When the log moves to the archive, continues there at the same byte. */
const acrossTheMove = (live: Following, from: Position, rest: (at: Position) => Promise<Messages>): Following => {
  const messages = async function* (): Messages {
    let at = from;
    for await (const message of live.messages) {
      if (message.type === "moved") return yield* await rest(at);
      if (message.type === "text") at = { attempt: message.attempt, offset: message.offset };
      if (message.type === "attempt") at = { attempt: message.attempt, offset: 0 };
      yield message;
    }
  };
  return { messages: messages(), stop: live.stop };
};

const rest = async (context: Context, id: string, at: Position, attempt: number | undefined) => {
  const owner = findLogOwner(await findLog(context, id));
  const logs = owner ? await reaching(listLogs(context.archive, owner)) : [];
  return archivedMessages(context.archive, logs, at, attempt);
};

const follow = (messages: Messages): Following => ({ messages, stop: () => void messages.return() });

/** Yields the messages for a follower of a log in the archive; `pinned` follows only one attempt. */
const archivedMessages = async function* (
  archive: R2Bucket,
  logs: ArchivedLog[],
  { attempt, offset }: Position,
  pinned: number | undefined,
): Messages {
  const last = shownLog(logs, pinned ?? null);
  const log = shownLog(logs, pinned ?? attempt) ?? last;
  if (log) {
    yield* readText(archive, log, attempt === null || attempt === log.attempt ? offset : 0);
    if (last && last.attempt > log.attempt) {
      yield { type: "attempt", attempt: last.attempt };
      yield* readText(archive, last, 0);
    }
  }
  yield { type: "end" };
};

const readText = async function* (archive: R2Bucket, { key, attempt, size }: ArchivedLog, from: number): Messages {
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  let offset = Math.min(from, size);
  let tail = new Uint8Array();
  for await (const chunk of await readLogText(archive, key, offset, size)) {
    const bytes = new Uint8Array(tail.length + chunk.length);
    bytes.set(tail);
    bytes.set(chunk, tail.length);
    const length = offset + bytes.length === size ? bytes.length : wholeCharacters(bytes);
    tail = bytes.slice(length);
    offset += length;
    if (length > 0) yield { type: "text", attempt, offset, text: decoder.decode(bytes.subarray(0, length)) };
  }
};
