/** The value that `takeDue` returns, at no cost, when no deadline is due. */
const NOTHING: readonly string[] = [];

interface Entry {
  readonly at: number;
  readonly id: string;
  /** Whether the entry was removed, or another entry for the id is earlier. */
  isStale: boolean;
}

/**
 * Deadlines by id, the earliest first. Deletion is lazy: an entry may be early, and the caller that takes it reads the
 * actual time and schedules the entry again. A deadline that only moves later, as with each heartbeat, therefore costs
 * nothing here.
 */
export class DeadlineQueue {
  readonly #heap: Entry[] = [];
  readonly #scheduled = new Map<string, Entry>();

  /** Ensures that a caller takes `id` at `at` or earlier. */
  schedule(id: string, at: number): void {
    const scheduled = this.#scheduled.get(id);
    if (scheduled && scheduled.at <= at) return;
    if (scheduled) scheduled.isStale = true;
    const entry = { at, id, isStale: false };
    this.#scheduled.set(id, entry);
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
  }

  remove(id: string): void {
    const scheduled = this.#scheduled.get(id);
    if (!scheduled) return;
    scheduled.isStale = true;
    this.#scheduled.delete(id);
  }

  /** Returns the earliest time at which a deadline may pass. */
  next(): number | null {
    this.#dropStale();
    return this.#heap[0]?.at ?? null;
  }

  /**
   * Moves early entries to their actual time until the first entry is correct. Removes entries that have no actual
   * time.
   */
  settle(actual: (id: string) => number | null): void {
    for (let at = this.next(); at !== null; at = this.next()) {
      const { id } = this.#heap[0]!;
      const due = actual(id);
      if (due !== null && due <= at) return;
      this.remove(id);
      if (due !== null) this.schedule(id, due);
    }
  }

  /** Reports whether a deadline may have passed. */
  isDue(now: number): boolean {
    const at = this.next();
    return at !== null && at <= now;
  }

  /** Removes and returns the ids that may be due at `now`, the earliest first. */
  takeDue(now: number, limit = Number.POSITIVE_INFINITY): readonly string[] {
    if (!this.isDue(now)) return NOTHING;
    const ids: string[] = [];
    while (ids.length < limit && this.isDue(now)) {
      const { id } = this.#pop();
      this.#scheduled.delete(id);
      ids.push(id);
    }
    return ids;
  }

  #dropStale(): void {
    while (this.#heap[0]?.isStale) this.#pop();
  }

  #pop(): Entry {
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
