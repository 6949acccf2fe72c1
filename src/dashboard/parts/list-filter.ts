import type * as z from "zod/mini";
import { type FieldError, Refusal } from "../../services/core/refusal.ts";
import { parseBody } from "../shell/verb-input.ts";

export interface ListFilter<T> {
  /** The filters whose values are valid. */
  filter: T;
  /** What is wrong with the others. */
  errors: FieldError[];
}

/** Reads the filters of a list from the page's address. One wrong value drops its own filter only. */
export const readFilter = <S extends z.ZodMiniType>(
  schema: S,
  values: Record<string, unknown>,
): ListFilter<z.output<S>> => {
  try {
    return { filter: parseBody(schema, values), errors: [] };
  } catch (error) {
    const errors = error instanceof Refusal ? error.extras.errors : undefined;
    if (!errors) throw error;
    const wrong = new Set(errors.map(({ pointer }) => pointer.split("/")[1]));
    const valid = Object.entries(values).filter(([name]) => !wrong.has(name));
    return { filter: parseBody(schema, Object.fromEntries(valid)), errors };
  }
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A time of the address. A day begins at midnight UTC. */
export const timeOf = (value: string): string => (DAY.test(value) ? `${value}T00:00:00Z` : value);

/** The named fields of an address that are not empty. */
export const filledFields = (query: URLSearchParams, names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = query.get(name)?.trim();
      return value ? [[name, value]] : [];
    }),
  );
