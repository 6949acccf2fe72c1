import { once } from "node:events";
import { WebSocket } from "ws";

/** Bytes, as V8 counts them. */
export interface HeapUsage {
  usedSize: number;
  totalSize: number;
  /** Bytes in buffers outside the heap. */
  backingStorageSize?: number;
}

interface Target {
  title?: string;
  webSocketDebuggerUrl: string;
}

/** The inspector for the isolate that runs the Worker, in workerd or `wrangler dev`. */
export class Inspector {
  readonly #socket: WebSocket;
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async open(port: number): Promise<Inspector> {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as Target[];
    const own = targets.find(({ webSocketDebuggerUrl }) => webSocketDebuggerUrl.endsWith("core:user:")) ?? targets[0];
    if (!own) throw new Error("The inspector does not list the Worker");
    const socket = new WebSocket(own.webSocketDebuggerUrl);
    await once(socket, "open");
    return new Inspector(socket);
  }

  async call<T>(method: string): Promise<T> {
    this.#calls += 1;
    const id = this.#calls;
    this.#socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [data] = (await once(this.#socket, "message")) as [Buffer];
      const message = JSON.parse(String(data)) as { id?: number; result: T };
      if (message.id === id) return message.result;
    }
  }

  close(): void {
    this.#socket.terminate();
  }
}
