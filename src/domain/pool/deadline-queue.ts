/**
 * What is due when, earliest first. A note may be early: whoever takes it asks the facts and notes the true time
 * again. So a deadline that only moves back, as with every heartbeat, costs nothing here.
 */
export class DeadlineQueue {
  readonly #heap: { at: number; key: string }[] = [];
  readonly #noted = new Map<string, number>();

  /** Makes sure `key` is taken at `at` or before. */
  schedule(key: string, at: number): void {
    const known = this.#noted.get(key);
    if (known !== undefined && known <= at) return;
    this.#noted.set(key, at);
    this.#heap.push({ at, key });
    this.#rise(this.#heap.length - 1);
  }

  remove(key: string): void {
    this.#noted.delete(key);
  }

  /** The earliest time at which something may be due. */
  next(): number | null {
    this.#dropStale();
    return this.#heap[0]?.at ?? null;
  }

  /** Removes and returns what may be due at `now`, the earliest first. */
  takeDue(now: number, atMost = Number.POSITIVE_INFINITY): string[] {
    const keys: string[] = [];
    for (let at = this.next(); at !== null && at <= now && keys.length < atMost; at = this.next()) {
      const { key } = this.#pop();
      this.#noted.delete(key);
      keys.push(key);
    }
    return keys;
  }

  #dropStale(): void {
    for (let top = this.#heap[0]; top && this.#noted.get(top.key) !== top.at; top = this.#heap[0]) this.#pop();
  }

  #pop(): { at: number; key: string } {
    const heap = this.#heap;
    const top = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      this.#sink(0);
    }
    return top;
  }

  #rise(from: number): void {
    const heap = this.#heap;
    for (let child = from; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (heap[parent]!.at <= heap[child]!.at) return;
      [heap[parent], heap[child]] = [heap[child]!, heap[parent]!];
      child = parent;
    }
  }

  #sink(from: number): void {
    const heap = this.#heap;
    for (let parent = from; ; ) {
      let least = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < heap.length && heap[child]!.at < heap[least]!.at) least = child;
      }
      if (least === parent) return;
      [heap[parent], heap[least]] = [heap[least]!, heap[parent]!];
      parent = least;
    }
  }
}
