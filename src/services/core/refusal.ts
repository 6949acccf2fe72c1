import { DETAILS, PROBLEMS, type Problem, type ProblemKind } from "../../protocol/problem.ts";

export type FieldError = { pointer: string; detail: string };
type Extras = Pick<Problem, "errors" | "existingId" | "expectedOffset"> & {
  retryAfterSeconds?: number;
  cause?: unknown;
};

/** A use case's error. It has one of the problem kinds, and a detail that never repeats the input. */
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

export const notFound = () => new Refusal("not-found", DETAILS["not-found"]);

/** Creates the refusal for a build that exists, but whose log was deleted. */
export const logDeleted = () => new Refusal("not-found", DETAILS["log-deleted"]);

export const tokenInvalid = () => new Refusal("unauthenticated", DETAILS.unauthenticated);

/** Creates the refusal for wrong fields in the body or query. Each pointer is a JSON pointer (RFC 6901). */
export const invalidFields = (errors: FieldError[]) => new Refusal("invalid", DETAILS.invalid, { errors });

/** Creates the refusal for one wrong field. */
export const invalid = (pointer: string, detail: string) => invalidFields([{ pointer, detail }]);

/** The result of a call to a Durable Object. */
export type ObjectResult<T> =
  | { ok: true; value: T }
  | {
      ok: false;
      refusal: {
        kind: ProblemKind;
        detail?: string;
        existingId?: string;
        expectedOffset?: number;
        retryAfterSeconds?: number;
      };
    };

/** Returns the detail for an object's refusal that has none of its own. */
const detailOf = (kind: ProblemKind): string => {
  const details: Partial<Record<ProblemKind, string>> = DETAILS;
  return details[kind] ?? `${PROBLEMS[kind][1]}.`;
};

/** Returns the value of an object's result. @throws Refusal */
export const settled = <T>(outcome: ObjectResult<T>): T => {
  if (outcome.ok) return outcome.value;
  const { kind, detail, ...extras } = outcome.refusal;
  throw new Refusal(kind, detail ?? detailOf(kind), extras);
};

/** Waits for the answer and returns it. Returns null if the record does not exist. */
export const nullIfNotFound = async <T>(answer: Promise<T>): Promise<T | null> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refusal && error.kind === "not-found") return null;
    throw error;
  }
};
