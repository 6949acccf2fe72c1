import * as z from "zod/mini";
import type { Access } from "./access.ts";
import type { Context } from "./context.ts";
import { type FieldError, invalid, invalidFields } from "./refusal.ts";

export interface Input<P, Q, B> {
  params: P;
  query: Q;
  body: B;
}

/** One use case: who may call it, what goes in, what comes out, and what it does. */
export interface Verb<P = unknown, Q = unknown, B = unknown, O extends z.ZodMiniType = z.ZodMiniType> {
  access: Access;
  params?: z.ZodMiniType<P>;
  query?: z.ZodMiniType<Q>;
  body?: z.ZodMiniType<B>;
  /** Absent where the answer has no body. */
  output?: O;
  run(context: Context, input: Input<P, Q, B>): Promise<z.output<O>>;
}

export const verb = <P = undefined, Q = undefined, B = undefined, O extends z.ZodMiniType = z.ZodMiniVoid>(
  definition: Verb<P, Q, B, O>,
): Verb<P, Q, B, O> => definition;

/**
 * The body of a PUT: what `change` allows, and the record's other fields as long as they stay what they are,
 * so that a record that was read can be edited and sent back.
 */
export const updateOf = <C extends z.core.$ZodShape>(
  record: z.ZodMiniObject,
  change: z.ZodMiniObject<C>,
): z.ZodMiniObject<C> => {
  const owned = Object.keys(record.shape).filter((field) => !(field in change.shape));
  const unchanged = Object.fromEntries(owned.map((field) => [field, z.optional(z.unknown())]));
  return z.strictObject({ ...unchanged, ...change.shape }) as unknown as z.ZodMiniObject<C>;
};

/**
 * The writable part of a PUT's body.
 * @throws Refusal where a field of the service's own differs from the record
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
      errors.push({ pointer: `/${field}`, detail: "is the service's own and cannot be changed" });
    }
  }
  if (errors.length > 0) throw invalidFields(errors);
  return writable as z.infer<z.ZodMiniObject<C>>;
};

/** An organization named in a body or filter must be the caller's own. @throws Refusal */
export const checkOwnOrg = (context: Context, orgId: string | null | undefined): void => {
  if (orgId != null && orgId !== context.orgId) throw invalid("/orgId", "is not the organization of this token");
};

/** The columns of `change` that were given, `null` included. */
export const given = <T extends object>(change: T): Partial<T> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<T>;
