import type * as z from "zod/mini";

type Output<S extends z.core.$ZodShape> = z.output<z.ZodMiniObject<S>>;

/** Makes records from rows: a field that only the row has, such as a hash, is never part of the record. */
export const viewOf = <S extends z.core.$ZodShape>(schema: z.ZodMiniObject<S>) => {
  const fields = Object.keys(schema.shape) as (keyof Output<S>)[];
  return (row: Output<S>): Output<S> => {
    const record: Partial<Output<S>> = {};
    for (const field of fields) if (row[field] !== undefined) record[field] = row[field];
    return record as Output<S>;
  };
};
