import { WebSocket } from "ws";
import type { KeepAlive } from "./keep-alive.ts";

/** Who was told, and when (milliseconds as of performance.now). */
export interface Arrival {
  index: number;
  at: number;
  text: string;
}

/** Many who wait at once, and the next of them that hears something. */
export class Crowd {
  #heard: ((arrival: Arrival) => void) | null = null;
  readonly #sockets: WebSocket[] = [];
  readonly #over = new AbortController();

  /** The first that is told from here on. */
  next(): Promise<Arrival> {
    return new Promise((resolve) => {
      this.#heard = resolve;
    });
  }

  tell(index: number, text: string): void {
    this.#heard?.({ index, at: performance.now(), text });
    this.#heard = null;
  }

  /** Keeps a question open, again and again; what it is answered is told and then dealt with. */
  async poll(index: number, http: KeepAlive, path: string, token?: string, deal?: (text: string) => Promise<void>) {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const { status, text } = await http.ask("GET", path, { token, signal }).catch(() => ({ status: 0, text: "" }));
      if (status !== 200) continue;
      this.tell(index, text);
      await deal?.(text);
    }
  }

  /** Opens a socket; every message on it is told. */
  async listen(index: number, url: string, token?: string): Promise<void> {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
    this.#sockets.push(socket);
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    socket.on("message", (data) => this.tell(index, String(data)));
  }

  /** Sends a text on each socket and waits for each answer, which is told to nobody. */
  async ping(text: string): Promise<void> {
    await Promise.all(
      this.#sockets.map((socket) => {
        const answered = new Promise((resolve) => socket.once("message", resolve));
        socket.send(text);
        return answered;
      }),
    );
  }

  /** Sends all of them home. */
  leave(): void {
    this.#over.abort();
    for (const socket of this.#sockets) socket.terminate();
  }
}

/** Does something for each of `count`, so many at a time. */
export const inParallel = async <T>(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> => {
  const results: T[] = [];
  let next = 0;
  const hand = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: atOnce }, hand));
  return results;
};
