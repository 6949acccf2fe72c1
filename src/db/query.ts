import type { DrizzleD1Database } from "drizzle-orm/d1";

/** Builds queries for D1. */
export type Database = DrizzleD1Database;
export type Batch = Parameters<Database["batch"]>[0];
export type Query = Batch[number];
/** The results of a batch's queries, in their order. */
export type Results<Q extends readonly Query[]> = { -readonly [K in keyof Q]: Q[K]["_"]["result"] };

/** Texts as a list of SQL literals. Only for texts of this code: nothing is escaped. */
export const quoted = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(", ");
