interface AnswerHeaders {
  /** The record's version, which becomes the ETag. */
  version?: number;
  /** Where the next page begins, which becomes the Link. */
  nextCursor?: string;
  /** No cache may keep it. */
  isSecret?: true;
  /** Whether the record changes without a new version: then a GET is never answered 304. */
  isMoving?: boolean;
}

/** A verb's value, with what the headers of the answer say about it. */
export class Answer<T> {
  readonly value: T;
  readonly version: number | null;
  readonly nextCursor: string | null;
  readonly isSecret: boolean;
  readonly isMoving: boolean;

  constructor(value: T, { version, nextCursor, isSecret, isMoving }: AnswerHeaders = {}) {
    this.value = value;
    this.version = version ?? null;
    this.nextCursor = nextCursor ?? null;
    this.isSecret = isSecret ?? false;
    this.isMoving = isMoving ?? false;
  }
}

/** A record in the version that a later If-Match may name. */
export const versioned = <T>(value: T, version: number): Answer<T> => new Answer(value, { version });
