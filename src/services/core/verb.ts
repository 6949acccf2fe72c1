import * as z from "zod/mini";
import type { Access } from "./access.ts";
import type { Context } from "./context.ts";
import { type FieldError, invalid, invalidFields } from "./refusal.ts";

interface AnswerHeaders {
  /** The record's version, which becomes the ETag. */
  version?: number;
  /** The beginning of the next page, which becomes the Link header. */
  nextCursor?: string;
  /** Whether caches must not keep the answer. */
  isSecret?: true;
  /** Whether the record changes without a new version. A GET then never returns 304. */
  isMoving?: boolean;
}

/** A verb's value, together with facts for the answer's headers. */
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

/** Returns a record with the version that a later If-Match may name. */
export const versioned = <T>(value: T, version: number): Answer<T> => new Answer(value, { version });

export interface VerbInput<P, Q, B> {
  params: P;
  query: Q;
  body: B;
}

interface Definition<P, Q, B, O extends z.ZodMiniType> {
  /** The callers that may use the verb. */
  access: Access;
  params?: z.ZodMiniType<P>;
  query?: z.ZodMiniType<Q>;
  body?: z.ZodMiniType<B>;
  /** Whether a missing body counts as an empty object. */
  mayLackBody?: true;
  /** The body's maximum size, if it exceeds the common limit. */
  bodyBytes?: number;
  /** The answer's schema; absent if the answer has no body. */
  output?: O;
  run(context: Context, input: VerbInput<P, Q, B>): Promise<z.output<O> | Answer<z.output<O>>>;
}

/** One use case, with its callers, its input and output schemas, and its action. */
export interface Verb<P = unknown, Q = unknown, B = unknown, O extends z.ZodMiniType = z.ZodMiniType>
  extends Omit<Definition<P, Q, B, O>, "run"> {
  /** Returns the value, with its version or the next page's cursor. */
  answer(context: Context, input: VerbInput<P, Q, B>): Promise<Answer<z.output<O>>>;
  /** Returns only the value. */
  run(context: Context, input: VerbInput<P, Q, B>): Promise<z.output<O>>;
}

export const verb = <P = undefined, Q = undefined, B = undefined, O extends z.ZodMiniType = z.ZodMiniVoid>({
  run,
  ...definition
}: Definition<P, Q, B, O>): Verb<P, Q, B, O> => {
  const answer = async (context: Context, input: VerbInput<P, Q, B>): Promise<Answer<z.output<O>>> => {
    const result = await run(context, input);
    return result instanceof Answer ? result : new Answer(result);
  };
  return { ...definition, answer, run: async (context, input) => (await answer(context, input)).value };
};

/**
 * Creates the schema of a PUT's body: the fields that `change` allows, and the record's other fields. `writablePart`
 * accepts the other fields only with their current values. A client can therefore read a record, edit it and send it
 * back.
 */
export const makeUpdateSchema = <C extends z.core.$ZodShape>(
  record: z.ZodMiniObject,
  change: z.ZodMiniObject<C>,
): z.ZodMiniObject<C> => {
  const owned = Object.keys(record.shape).filter((field) => !(field in change.shape));
  const unchanged = Object.fromEntries(owned.map((field) => [field, z.optional(z.unknown())]));
  return z.strictObject({ ...unchanged, ...change.shape }) as unknown as z.ZodMiniObject<C>;
};

/**
 * Returns the fields of a PUT's body that clients may write.
 * @throws Refusal invalid if another field differs from the record
 */
export const writablePart = <C extends z.core.$ZodShape>(
  body: object,
  change: z.ZodMiniObject<C>,
  record: object,
): z.infer<z.ZodMiniObject<C>> => {
  const errors: FieldError[] = [];
  const writable: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(body)) {
    if (field in change.shape) writable[field] = value;
    else if (JSON.stringify(value) !== JSON.stringify((record as Record<string, unknown>)[field])) {
      errors.push({ pointer: `/${field}`, detail: "is read-only" });
    }
  }
  if (errors.length > 0) throw invalidFields(errors);
  return writable as z.infer<z.ZodMiniObject<C>>;
};

/** Checks that an organization in a body or filter is the caller's own. @throws Refusal */
export const checkOwnOrg = (context: Context, orgId: string | null | undefined): void => {
  if (orgId != null && orgId !== context.orgId) throw invalid("/orgId", "is not this token's organization");
};

type Output<S extends z.core.$ZodShape> = z.output<z.ZodMiniObject<S>>;

/** Creates records from rows. Omits fields that only the row has, such as a hash. */
export const makeView = <S extends z.core.$ZodShape>(schema: z.ZodMiniObject<S>) => {
  const fields = Object.keys(schema.shape) as (keyof Output<S>)[];
  return (row: Output<S>): Output<S> => {
    const record: Partial<Output<S>> = {};
    for (const field of fields) if (row[field] !== undefined) record[field] = row[field];
    return record as Output<S>;
  };
};
