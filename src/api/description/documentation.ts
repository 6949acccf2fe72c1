import type { ProblemKind } from "../../protocol/problem.ts";

/** A request header that a route reads besides those that follow from its shape; `headers.ts` has them. */
export type RequestHeader =
  | "BootId"
  | "ContentSha256"
  | "EarlierGrant"
  | "Features"
  | "Grant"
  | "HeldLease"
  | "IdempotencyKey"
  | "IfNoneMatch"
  | "IfRange"
  | "LastEventId"
  | "Lease"
  | "Range"
  | "Xcodes";

/** What only the description says about a route: the rest follows from its verb. */
export interface Documentation {
  summary: string;
  description?: string;
  /** The record has an ETag; PUT and DELETE take If-Match. */
  versioned?: true;
  headers?: RequestHeader[];
  /** Problems that its own rules raise, besides those of every route of its shape. */
  problems?: ProblemKind[];
  /** Answers besides the success and the problems. */
  also?: Partial<Record<"101" | "204" | "206" | "304" | "416", string>>;
  /** Media types of the answer besides JSON, or instead of it. */
  text?: { types: string[]; alone?: true };
  /** The body is bytes. */
  bytes?: true;
}

/** What is said of operations, by their ids. One that is `like` another says of itself what differs; it has a description of its own, or none. */
export type Operations = Record<string, Documentation | (Partial<Documentation> & { like: string })>;

/**
 * What a schema `is`, and what each of its fields means; a nested field has a path, such as `agents[].name`. The words
 * of the schema that it is `like` describe the fields that have none here.
 */
export type Words = Record<string, { is: string; like?: string; [field: string]: string | undefined }>;
