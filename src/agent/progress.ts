import type { Progress } from "../protocol/jobs.ts";
import { LIMITS } from "../protocol/limits.ts";
import { announce } from "./announce.ts";
import { type Client, wordOf } from "./client.ts";

export interface ProgressRoute {
  client: Client;
  buildId: string;
  lease: number;
  signal: AbortSignal;
  /** Hears of what ends the build's life on the wire. */
  onTrouble: (error: unknown) => void;
}

/** Tells the service what the build found out: in order, one call at a time, what came up meanwhile merged. */
export class ProgressReport {
  readonly #route: ProgressRoute;
  #pending: Progress | null = null;
  #masks: string[] = [];
  #sending: Promise<void> | null = null;
  #masksSent: Promise<void> = Promise.resolve();

  constructor(route: ProgressRoute) {
    this.#route = route;
  }

  report({ masks = [], ...change }: Progress): void {
    this.#masks.push(...masks.filter((mask) => mask.length <= LIMITS.maskCharacters));
    this.#pending = { ...this.#pending, ...change };
    this.#sending ??= this.#send()
      .catch(this.#route.onTrouble)
      .finally(() => {
        this.#sending = null;
      });
    if (masks.length > 0) this.#masksSent = this.flushed();
  }

  /** Until the service knows every mask reported so far: before that, no byte that they are for may go. */
  masksKnown(): Promise<void> {
    return this.#masksSent;
  }

  /** Until everything reported so far has arrived. */
  async flushed(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #send(): Promise<void> {
    const { client, buildId, lease, signal } = this.#route;
    while (this.#pending || this.#masks.length > 0) {
      const masks = this.#masks.splice(0, LIMITS.reportedMasks);
      const body: Progress = { ...this.#pending, ...(masks.length > 0 ? { masks } : {}) };
      this.#pending = null;
      const answer = await client.send({ method: "POST", path: `/build/${buildId}/progress`, body, lease, signal });
      if (answer.status >= 400) announce.warn(`a report on the build was refused: ${wordOf(answer)}`);
    }
  }
}
