import type { Step } from "../../protocol/build.ts";
import type { Progress } from "../../protocol/jobs.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { logger } from "../cli/logger.ts";
import { QUIET_PACE } from "../log/log-sender.ts";
import type { Audience } from "./audience.ts";
import { isLeaseLost } from "./build-calls.ts";
import { type ApiClient, describeAnswer } from "./client.ts";

/**
 * Minimum milliseconds that a mergeable report waits, so that one call carries a step's end and the next step's start.
 */
export const SETTLE = 1000;

interface ProgressReportOptions {
  client: ApiClient;
  jobId: string;
  lease: number;
  audience: Audience;
  quietPace?: number;
  signal: AbortSignal;
  /** Called when a report cannot be sent at all. */
  onError: (error: unknown) => void;
}

/**
 * Reports the build's progress in order, with one call at a time. Merges reports during a call. While nobody follows
 * the build, also merges reports within QUIET_PACE. Values to mask and a failed step never wait. Another call may
 * already have reported a change, without details such as a step's offset in the log. The report of the change then
 * waits for SETTLE, so that the step's first log lines are sent before it.
 */
export class ProgressSender {
  readonly #options: ProgressReportOptions;
  readonly #forgetAudience: () => void;
  #pending: Progress | null = null;
  #masks: string[] = [];
  #isDue = false;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  #masksSent: Promise<void> = Promise.resolve();
  /** The steps as another call reported them. */
  #reportedSteps: Step[] = [];

  constructor(options: ProgressReportOptions) {
    this.#options = options;
    this.#forgetAudience = options.audience.onArrival(() => this.#sendNow());
  }

  report({ masks = [], ...change }: Progress): void {
    this.#masks.push(...masks.filter((mask) => mask.length <= LIMITS.maskCharacters));
    this.#pending = { ...this.#pending, ...change };
    const hasFailed = change.steps?.some(({ status }) => status === "failed") ?? false;
    const { isThere } = this.#options.audience;
    const isNews = !this.#isTold(change);
    if (masks.length > 0 || hasFailed || (isThere && isNews)) this.#sendNow();
    else if (isThere || isNews) this.#sendLater();
    if (masks.length > 0) this.#masksSent = this.flushed();
  }

  /** Holds a change for another call. Reports the change separately if nobody makes that call soon. */
  hold(change: Omit<Progress, "masks">): void {
    this.#pending = { ...this.#pending, ...change };
    this.#sendLater();
  }

  /** Records that another call carried all pending reports, and these steps. */
  told(steps: Step[] = []): void {
    this.#pending = null;
    this.#reportedSteps = steps;
    this.#sentAt = performance.now();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Reports whether another call already reported these steps' states. The report can then wait for the next news. */
  #isTold({ steps, ...others }: Progress): boolean {
    const isOfSteps = steps !== undefined && Object.keys(others).length === 0;
    return isOfSteps && steps.every(({ status }, index) => status === this.#reportedSteps[index]?.status);
  }

  #sendLater(): void {
    const { quietPace = QUIET_PACE, audience } = this.#options;
    const pace = audience.isThere ? SETTLE : quietPace;
    const wait = Math.max(Math.min(SETTLE, quietPace), this.#sentAt + pace - performance.now());
    this.#timer ??= setTimeout(() => this.#sendNow(), wait);
  }

  #sendNow(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isDue = true;
    this.#sending ??= this.#send()
      .catch(this.#options.onError)
      .finally(() => {
        this.#sending = null;
        if (this.#isDue && this.#hasNews) this.#sendNow();
      });
  }

  /**
   * Resolves when the service has every mask reported so far. Do not send log bytes that follow a mask before this
   * resolves.
   */
  masksKnown(): Promise<void> {
    return this.#masksSent;
  }

  /** Resolves when everything reported so far has arrived. */
  async flushed(): Promise<void> {
    if (this.#hasNews) this.#sendNow();
    while (this.#sending) await this.#sending;
  }

  /** Stops reporting. */
  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#forgetAudience();
  }

  get #hasNews(): boolean {
    return this.#pending !== null || this.#masks.length > 0;
  }

  async #send(): Promise<void> {
    const { client, jobId, lease, signal } = this.#options;
    while (this.#hasNews && (this.#isDue || this.#masks.length > 0)) {
      this.#isDue = false;
      this.#sentAt = performance.now();
      const masks = this.#masks.splice(0, LIMITS.reportedMasks);
      const body: Progress = { ...this.#pending, ...(masks.length > 0 ? { masks } : {}) };
      this.#pending = null;
      const answer = await client.send({ method: "POST", path: `/build/${jobId}/progress`, body, lease, signal });
      // A plan ends the lease during a report. In other cases, the next heartbeat reports a lost lease.
      if (answer.status >= 400 && !isLeaseLost(answer))
        logger.warn(`the service rejected a progress report: ${describeAnswer(answer)}`);
    }
  }
}
