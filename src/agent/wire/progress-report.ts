import type { Progress } from "../../protocol/jobs.ts";
import { logger } from "../cli/logger.ts";
import { type Client, describeAnswer } from "./client.ts";

/** Masks one report may carry, and the length of each, as the wire has it. */
const MASKS = 1000;
const MASK_LENGTH = 65_536;

export interface ProgressReportOptions {
  client: Client;
  buildId: string;
  lease: number;
  signal: AbortSignal;
  /** Hears of what ends the build's life on the wire. */
  onError: (error: unknown) => void;
}

/** Tells the service what the build found out: in order, one call at a time, what came up meanwhile merged. */
export class ProgressReport {
  readonly #route: ProgressReportOptions;
  #pending: Progress | null = null;
  #masks: string[] = [];
  #sending: Promise<void> | null = null;
  #masksSent: Promise<void> = Promise.resolve();

  constructor(route: ProgressReportOptions) {
    this.#route = route;
  }

  report({ masks = [], ...change }: Progress): void {
    this.#masks.push(...masks.filter((mask) => mask.length <= MASK_LENGTH));
    this.#pending = { ...this.#pending, ...change };
    this.#sending ??= this.#send()
      .catch(this.#route.onError)
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
      const masks = this.#masks.splice(0, MASKS);
      const body: Progress = { ...this.#pending, ...(masks.length > 0 ? { masks } : {}) };
      this.#pending = null;
      const answer = await client.send({ method: "POST", path: `/build/${buildId}/progress`, body, lease, signal });
      if (answer.status >= 400) logger.warn(`a report on the build was refused: ${describeAnswer(answer)}`);
    }
  }
}
