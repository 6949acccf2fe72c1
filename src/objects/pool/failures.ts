/** How often each of many things failed in a row, by name. */
export class FailureCounts {
  readonly #counts = new Map<string, number>();

  /** @returns how often it has failed */
  add(name: string): number {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count;
  }

  forget(name: string): void {
    this.#counts.delete(name);
  }

  /** In their order, but those that failed more often stand behind the others. */
  fewestFirst<T>(all: T[], nameOf: (one: T) => string): T[] {
    const countOf = (one: T) => this.#counts.get(nameOf(one)) ?? 0;
    return all.sort((left, right) => countOf(left) - countOf(right));
  }
}
