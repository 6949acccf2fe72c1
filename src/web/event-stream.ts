import { FollowMessage, MORE } from "../protocol/follow.ts";

/** Milliseconds after which a silent stream sends a comment: proxies keep it open, and a client that is gone shows. */
const KEEP_ALIVE = 15_000;

/** One event. Data is one JSON string, so that no line break in a log forges a field. */
const eventOf = (message: FollowMessage): string => {
  switch (message.type) {
    case "text":
      return `id: ${message.attempt}:${message.offset}\ndata: ${JSON.stringify(message.text)}\n\n`;
    case "attempt":
      return `event: attempt\nid: ${message.attempt}:0\ndata: ${message.attempt}\n\n`;
    case "end":
      return "event: end\ndata: null\n\n";
  }
};

/** A log's follower socket as server-sent events, as fast as the client reads and no faster. */
export const eventStream = (socket: WebSocket): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  let alive: ReturnType<typeof setInterval> | undefined;
  let isOpen = true;
  const stop = () => {
    isOpen = false;
    clearInterval(alive);
    socket.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const finish = () => {
          if (isOpen) controller.close();
          stop();
        };
        socket.accept();
        socket.addEventListener("message", ({ data }) => {
          if (!isOpen) return;
          const message = FollowMessage.parse(JSON.parse(String(data)));
          controller.enqueue(encoder.encode(eventOf(message)));
          if (message.type === "end") finish();
        });
        socket.addEventListener("close", finish);
        alive = setInterval(() => controller.enqueue(encoder.encode(":\n\n")), KEEP_ALIVE);
      },
      pull() {
        if (isOpen) socket.send(MORE);
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
};
