/**
 * Knows whether anybody follows the active build's log. If nobody does, the agent sends larger reports. Assumes a
 * follower if the service does not report whether there is one, or could not send a hint.
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

  /** Records an answer to a chunk of the log, or a hint. */
  note(isFollowed = true): void {
    const hasCome = isFollowed && !this.#isFollowed;
    this.#isFollowed = isFollowed;
    if (hasCome) for (const listener of this.#listeners) listener();
  }

  /** Calls the listener whenever somebody starts to follow. @returns a function that removes the listener */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
