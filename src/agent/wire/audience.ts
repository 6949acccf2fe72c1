/**
 * Whether anybody follows the log of the active build. While nobody does, the agent reports in larger parts. Where the
 * service does not say it, or could not send a hint, somebody counts as there.
 */
export class Audience {
  readonly #mayGetHints: () => boolean;
  #isFollowed = true;
  readonly #listeners = new Set<() => void>();

  constructor(mayGetHints: () => boolean = () => false) {
    this.#mayGetHints = mayGetHints;
  }

  get isThere(): boolean {
    return this.#isFollowed || !this.#mayGetHints();
  }

  /** Takes note of an answer to a chunk of the log, or of a hint. */
  note(isFollowed = true): void {
    const hasCome = isFollowed && !this.#isFollowed;
    this.#isFollowed = isFollowed;
    if (hasCome) for (const listener of this.#listeners) listener();
  }

  /** Calls the listener whenever somebody begins to follow. @returns a function that ends this */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
