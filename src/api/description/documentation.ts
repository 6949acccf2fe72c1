import type { ProblemKind } from "../../protocol/problem.ts";

/**
 * A request header that a route reads in addition to the headers that its shape implies. `headers.ts` has those
 * headers.
 */
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

/** A route's documentation that its verb does not imply. */
export interface Documentation {
  summary: string;
  description?: string;
  /** The record has an ETag; PUT and DELETE accept If-Match. */
  versioned?: true;
  headers?: RequestHeader[];
  /** Problems from the operation's own rules, in addition to those of every route with its shape. */
  problems?: ProblemKind[];
  /** Answers of the operation in addition to its success and its problems. */
  also?: Partial<Record<"101" | "204" | "206" | "304" | "416", string>>;
  /** The answer's media types in addition to JSON, or instead of it. */
  text?: { types: string[]; alone?: true };
  /** The body is bytes. */
  bytes?: true;
}

/**
 * Documentation of operations, by id. An operation that is `like` another documents only the differences. It never
 * inherits a description.
 */
export type Operations = Record<string, Documentation | (Partial<Documentation> & { like: string })>;

/**
 * What a schema `is`, and the meaning of each of its fields. A nested field has a path, such as `agents[].name`. If the
 * schema is `like` another one, the other schema describes the remaining fields.
 */
export type Words = Record<string, { is: string; like?: string; [field: string]: string | undefined }>;
