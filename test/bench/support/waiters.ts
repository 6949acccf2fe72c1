import { WebSocket } from "ws";
import type { KeepAliveClient } from "./keep-alive.ts";

/** A message to a waiter, with its time by performance.now. */
export interface Arrival {
  index: number;
  at: number;
  text: string;
}

/** Many agents that wait at once, by long poll or socket. */
export class Waiters {
  /** Number of messages to all of them. */
  arrivals = 0;
  #onArrival: ((arrival: Arrival) => void) | null = null;
  readonly #sockets: WebSocket[] = [];
  readonly #over = new AbortController();

  /** Waits for the next message to any of them. */
  nextArrival(): Promise<Arrival> {
    return new Promise((resolve) => {
      this.#onArrival = resolve;
    });
  }

  notify(index: number, text: string): void {
    this.arrivals += 1;
    this.#onArrival?.({ index, at: performance.now(), text });
    this.#onArrival = null;
  }

  /** Returns the first waiter that gets a message, and the milliseconds since the request was sent. */
  async wokenBy(ask: () => Promise<unknown>): Promise<Arrival & { took: number }> {
    const arriving = this.nextArrival();
    const begun = performance.now();
    const asked = ask();
    const arrival = await arriving;
    await asked;
    return { ...arrival, took: arrival.at - begun };
  }

  /** Long-polls repeatedly. Counts each answer as an arrival, then passes it to `handle`. */
  async poll(
    index: number,
    http: KeepAliveClient,
    path: string,
    token?: string,
    handle?: (text: string) => Promise<void>,
  ) {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const { status, text } = await http.send("GET", path, { token, signal }).catch(() => ({ status: 0, text: "" }));
      if (status !== 200) continue;
      this.notify(index, text);
      await handle?.(text);
    }
  }

  /** Opens a socket. Counts each message on it as an arrival. */
  async openSocket(index: number, url: string, token?: string, more: Record<string, string> = {}): Promise<void> {
    const headers = token ? { ...more, Authorization: `Bearer ${token}` } : more;
    const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
    this.#sockets.push(socket);
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    socket.on("message", (data) => this.notify(index, String(data)));
  }

  /** Sends a text on each socket and waits for all answers. */
  async ping(text: string): Promise<void> {
    await Promise.all(
      this.#sockets.map((socket) => {
        const answered = new Promise((resolve) => socket.once("message", resolve));
        socket.send(text);
        return answered;
      }),
    );
  }

  /** Ends all polls and sockets. */
  close(): void {
    this.#over.abort();
    for (const socket of this.#sockets) socket.terminate();
  }
}

/** Runs `work` for each index below `count`, `concurrency` of them at a time. */
export const inParallel = async <T>(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> => {
  const results: T[] = [];
  let next = 0;
  const runWorker = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: concurrency }, runWorker));
  return results;
};
