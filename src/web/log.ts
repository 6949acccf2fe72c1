import type { Context as HonoContext } from "hono";
import { PathId } from "../protocol/common.ts";
import { EventId, type FollowMessage, LogFilter } from "../protocol/log.ts";
import { type Following, followLog } from "../services/builds/log-follow.ts";
import { openLog } from "../services/builds/logs.ts";
import { invalid } from "../services/core/refusal.ts";
import type { StreamRoute } from "./app-env.ts";
import { parseRange } from "./headers.ts";

/**
 * Milliseconds between comments. The comments keep proxies from closing a silent stream, and detect a disconnected
 * client.
 */
const KEEP_ALIVE = 15_000;

/** Formats a server-sent event. Its data is one JSON string, so a line break in the log cannot forge a field. */
const toEvent = (message: FollowMessage): string => {
  switch (message.type) {
    case "text":
      return `id: ${message.attempt}:${message.offset}\ndata: ${JSON.stringify(message.text)}\n\n`;
    case "attempt":
      return `event: attempt\nid: ${message.attempt}:0\ndata: ${message.attempt}\n\n`;
    case "end":
      return "event: end\ndata: null\n\n";
    case "moved":
      return "";
  }
};

/** Streams server-sent events (WHATWG HTML, 9.2) to a follower of a log. Each read by the client fetches one event. */
export const eventStream = ({ messages, stop }: Following): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  let alive: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        alive = setInterval(() => controller.enqueue(encoder.encode(":\n\n")), KEEP_ALIVE);
      },
      async pull(controller) {
        const { done, value } = await messages.next();
        if (!done) return controller.enqueue(encoder.encode(toEvent(value)));
        clearInterval(alive);
        controller.close();
      },
      cancel() {
        clearInterval(alive);
        stop();
      },
    },
    { highWaterMark: 0 },
  );
};

/**
 * Headers for a log, which may be hostile. A browser must show it as text, and must not guess a type, run scripts or
 * frame it.
 */
const INERT = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cache-Control": "no-store",
};

const eventId = (header: string | undefined): string => {
  if (header === undefined) return "0";
  if (!EventId.safeParse(header).success) throw invalid("Last-Event-ID", "must be an event id: attempt:offset");
  return header;
};

/** Answers with the log as text, complete or in part, or with events until the log ends. */
export const readLog: StreamRoute = {
  access: { role: "viewer" },
  params: PathId,
  query: LogFilter,
  async stream(c, context, { params, query }) {
    if (c.req.header("Accept")?.includes("text/event-stream")) {
      const following = await followLog(context, params.id, query.attempt, eventId(c.req.header("Last-Event-ID")));
      return c.body(eventStream(following), 200, { ...INERT, "Content-Type": "text/event-stream" });
    }
    const range = parseRange(c, null);
    const log = await openLog(context, params.id, { attempt: query.attempt, ...range });
    const headers = { ...INERT, "Content-Type": "text/plain; charset=utf-8", "Accept-Ranges": "bytes" };
    if (!range) return c.body(log.body, 200, { ...headers, "Content-Length": String(log.size) });
    if (log.start >= log.end) return unsatisfiable(c, log.size);
    const contentRange = `bytes ${log.start}-${log.end - 1}/${log.isComplete ? log.size : "*"}`;
    return c.body(log.body, 206, { ...headers, "Content-Range": contentRange });
  },
};

const unsatisfiable = (c: HonoContext, size: number): Response =>
  c.body(null, 416, { ...INERT, "Content-Range": `bytes */${size}` });
