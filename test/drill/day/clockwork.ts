import { setImmediate, setTimeout } from "node:timers/promises";
import type { KeepAliveClient } from "../../bench/support/keep-alive.ts";

/** Milliseconds after which an unanswered request counts as waiting for the clock. */
const PATIENCE_MS = 30;
/** Milliseconds of the day by which the clock moves forward while a request waits for it. */
const STEP_MS = 500;

/** Everybody wakes at a multiple of this: simultaneous events cost one step of the clock. */
const GRID_MS = 5_000;

interface Sleeper {
  at: number;
  wake(): void;
}

/** A simulated day's clock, for the people and agents in it. It stands still while any of them does something. */
export class Clockwork {
  readonly #http: KeepAliveClient;
  /** A heap, the next one first. */
  readonly #sleepers: Sleeper[] = [];
  #asking = 0;
  #steps = 0;
  now: number;

  private constructor(http: KeepAliveClient, now: number) {
    this.#http = http;
    this.now = now;
  }

  static async begin(http: KeepAliveClient, at: number): Promise<Clockwork> {
    await http.request("POST", `/day/begin?at=${at}`);
    return new Clockwork(http, at);
  }

  until(at: number): Promise<void> {
    return new Promise((wake) => this.#add({ at: Math.ceil(at / GRID_MS) * GRID_MS, wake }));
  }

  sleep(milliseconds: number): Promise<void> {
    return this.until(this.now + milliseconds);
  }

  /** Waits for an answer. The clock waits for it too. */
  async ask<T>(answer: Promise<T>): Promise<T> {
    this.#asking += 1;
    this.#steps += 1;
    try {
      return await answer;
    } finally {
      this.#asking -= 1;
      this.#steps += 1;
    }
  }

  /** Notifies the clock that somebody has continued. */
  stir(): void {
    this.#steps += 1;
  }

  /** Runs the day until a time. */
  async run(end: number): Promise<void> {
    await this.#settle();
    while (this.now < end) {
      const next = Math.min(this.#sleepers[0]?.at ?? end, end);
      const to = this.#asking > 0 ? Math.min(next, this.now + STEP_MS) : next;
      const { now } = await this.#http.request<{ now: number }>("POST", `/day/clock?to=${to}`);
      this.now = now;
      while ((this.#sleepers[0]?.at ?? Number.POSITIVE_INFINITY) <= now) this.#take().wake();
      await this.#settle();
    }
  }

  /** Waits until everybody waits for the clock. */
  async #settle(): Promise<void> {
    for (let before = -1; before !== this.#steps; ) {
      before = this.#steps;
      await setImmediate();
      await setImmediate();
      if (this.#asking > 0 && before === this.#steps) await this.#answerOrPatience(before);
    }
  }

  async #answerOrPatience(before: number): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    while (this.#asking > 0 && before === this.#steps && performance.now() < until) await setTimeout(1);
  }

  #add(sleeper: Sleeper): void {
    const heap = this.#sleepers;
    heap.push(sleeper);
    for (let place = heap.length - 1; place > 0; ) {
      const above = (place - 1) >> 1;
      if (heap[above]!.at <= heap[place]!.at) break;
      [heap[above], heap[place]] = [heap[place]!, heap[above]!];
      place = above;
    }
  }

  #take(): Sleeper {
    const heap = this.#sleepers;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    heap[0] = last;
    for (let place = 0; ; ) {
      const [left, right] = [2 * place + 1, 2 * place + 2];
      let least = place;
      if (left < heap.length && heap[left]!.at < heap[least]!.at) least = left;
      if (right < heap.length && heap[right]!.at < heap[least]!.at) least = right;
      if (least === place) return first;
      [heap[least], heap[place]] = [heap[place]!, heap[least]!];
      place = least;
    }
  }
}
