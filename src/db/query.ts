import type { DrizzleD1Database } from "drizzle-orm/d1";

/** Builds queries for D1. */
export type Database = DrizzleD1Database;
export type Batch = Parameters<Database["batch"]>[0];
export type Query = Batch[number];
/** The results of a batch's queries, in order. */
export type Results<Q extends readonly Query[]> = { -readonly [K in keyof Q]: Q[K]["_"]["result"] };

/** Formats texts as a list of SQL literals, without escapes. Pass only constants from the code, never input. */
export const quoted = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(", ");
