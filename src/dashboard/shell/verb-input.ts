import type * as z from "zod/mini";
import { accepted } from "../../services/core/invalid-input.ts";

/** The input of verbs that need none, or that need only filters. */
export const noInput = { params: undefined, query: {}, body: undefined };

export const withBody = <B>(body: B) => ({ params: undefined, query: undefined, body });

export const byId = (id: string | undefined) => ({ params: { id: id ?? "" }, query: undefined, body: undefined });

/**
 * Reads a form's values as a verb's body.
 * @throws Refusal with an error for each wrong field
 */
export const parseBody = <S extends z.ZodMiniType>(schema: S | undefined, values: unknown): z.output<S> => {
  if (!schema) throw new TypeError("a form requires a verb with a body");
  return accepted(schema.safeParse(values), schema);
};

export const namesById = <T extends { id: string }>(records: T[], name: (record: T) => string): Map<string, string> =>
  new Map(records.map((record) => [record.id, name(record)]));
