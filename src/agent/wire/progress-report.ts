import type { Progress } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { logger } from "../cli/logger.ts";
import { type Client, describeAnswer } from "./client.ts";

export interface ProgressReportOptions {
  client: Client;
  buildId: string;
  lease: number;
  signal: AbortSignal;
  /** Called when a report cannot be sent at all. */
  onError: (error: unknown) => void;
}

/** Reports the build's progress in order, with one call at a time. Merges what is reported during a call. */
export class ProgressReport {
  readonly #options: ProgressReportOptions;
  #pending: Progress | null = null;
  #masks: string[] = [];
  #sending: Promise<void> | null = null;
  #masksSent: Promise<void> = Promise.resolve();

  constructor(options: ProgressReportOptions) {
    this.#options = options;
  }

  report({ masks = [], ...change }: Progress): void {
    this.#masks.push(...masks.filter((mask) => mask.length <= LIMITS.maskCharacters));
    this.#pending = { ...this.#pending, ...change };
    this.#sending ??= this.#send()
      .catch(this.#options.onError)
      .finally(() => {
        this.#sending = null;
      });
    if (masks.length > 0) this.#masksSent = this.flushed();
  }

  /** Resolves when the service has every mask reported so far. Log bytes after a mask must not be sent earlier. */
  masksKnown(): Promise<void> {
    return this.#masksSent;
  }

  /** Resolves when everything reported so far is delivered. */
  async flushed(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #send(): Promise<void> {
    const { client, buildId, lease, signal } = this.#options;
    while (this.#pending || this.#masks.length > 0) {
      const masks = this.#masks.splice(0, LIMITS.reportedMasks);
      const body: Progress = { ...this.#pending, ...(masks.length > 0 ? { masks } : {}) };
      this.#pending = null;
      const answer = await client.send({ method: "POST", path: `/build/${buildId}/progress`, body, lease, signal });
      if (answer.status >= 400) logger.warn(`the service refused a progress report: ${describeAnswer(answer)}`);
    }
  }
}
