import type * as z from "zod/mini";
import { accepted } from "../services/core/invalid-input.ts";
import { Refusal } from "../services/core/refusal.ts";

/** The input of a verb that takes none, or only filters. */
export const noInput = { params: undefined, query: {}, body: undefined };

/** The input of a verb that makes something. */
export const withBody = <B>(body: B) => ({ params: undefined, query: undefined, body });

export const byId = (id: string | undefined) => ({ params: { id: id ?? "" }, query: undefined, body: undefined });

/** What may have been removed since: null then. */
export const nullIfNotFound = async <T>(answer: Promise<T>): Promise<T | null> => {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refusal && error.kind === "not-found") return null;
    throw error;
  }
};

/** What a form sent, as the verb takes it. @throws Refusal naming each field that is wrong */
export const parseBody = <S extends z.ZodMiniType>(schema: S | undefined, sent: unknown): z.output<S> => {
  if (!schema) throw new TypeError("a form needs a verb that takes a body");
  return accepted(schema.safeParse(sent), schema);
};

/** Names by id, for what refers to records by their ids alone. */
export const namesById = <T extends { id: string }>(records: T[], name: (record: T) => string): Map<string, string> =>
  new Map(records.map((record) => [record.id, name(record)]));
