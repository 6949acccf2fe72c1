import type { FollowMessage } from "../protocol/log.ts";
import type { Following } from "../services/builds/log-follow.ts";

/** Milliseconds between comments, which keep proxies from closing a silent stream and detect a client that is gone. */
const KEEP_ALIVE = 15_000;

/** One server-sent event. Its data is one JSON string, so that a line break in the log cannot forge a field. */
const eventOf = (message: FollowMessage): string => {
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

/** Server-sent events (WHATWG HTML, 9.2) of who follows a log. Each read of the client fetches one. */
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
        if (!done) return controller.enqueue(encoder.encode(eventOf(value)));
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
