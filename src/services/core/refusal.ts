import type { Problem, ProblemKind } from "../../protocol/problem.ts";

export type FieldError = { pointer: string; detail: string };
type Extras = Pick<Problem, "errors" | "existingId" | "expectedOffset"> & {
  retryAfterSeconds?: number;
  cause?: unknown;
};

/** A use case says no: one of a closed set of kinds, with a text that never repeats what was sent. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly kind: ProblemKind;
  readonly extras: Extras;
  constructor(kind: ProblemKind, detail: string, extras: Extras = {}) {
    super(detail, { cause: extras.cause });
    this.kind = kind;
    this.extras = extras;
  }
}

export const notFound = () => new Refusal("not-found", "There is nothing with this id here.");

/** One field of the body or query is wrong. */
export const invalid = (pointer: string, detail: string) =>
  new Refusal("invalid", "The request is not valid: see errors.", { errors: [{ pointer, detail }] });

/** The answer of an object: its value, or its refusal as ours. */
export type Outcome<T> =
  | { ok: true; value: T }
  | { ok: false; refusal: { kind: ProblemKind; detail?: string; existingId?: string; expectedOffset?: number } };

const DETAILS: Partial<Record<ProblemKind, string>> = {
  "not-found": "There is nothing with this id here.",
  "lease-lost": "This lease is no longer current: drop the build and poll again.",
  unauthenticated: "The token is not, or no longer, valid.",
};

/** @throws Refusal */
export const settled = <T>(outcome: Outcome<T>): T => {
  if (outcome.ok) return outcome.value;
  const { kind, detail, ...extras } = outcome.refusal;
  throw new Refusal(kind, detail ?? DETAILS[kind] ?? "The present state does not allow that.", extras);
};
