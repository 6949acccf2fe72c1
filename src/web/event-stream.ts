import { FollowMessage, MORE } from "../protocol/follow.ts";

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
  }
};

/** Server-sent events (WHATWG HTML, 9.2) from the follower socket of a log. Each read of the client fetches one. */
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
