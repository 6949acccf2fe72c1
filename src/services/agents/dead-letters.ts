import { eq } from "drizzle-orm";
import * as z from "zod/mini";
import { organization } from "../../db/schema.ts";
import { DEFAULTS, LIMITS } from "../../protocol/limits.ts";
import { DeadLetter, DeadLetterRetry, DeadLettersRetried } from "../../protocol/operator.ts";
import { DeadLetterFilter, encodeCursor } from "../../protocol/page.ts";
import { auditRow } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { notFound } from "../core/refusal.ts";
import { Answer, verb } from "../core/verb.ts";

/**
 * Returns an organization's pool after checking that the organization exists, because a call to any other name would
 * create an object.
 * @throws Refusal not-found
 */
const findPool = async (context: Context, orgId: string) => {
  await context.admit();
  const { sql } = context.db;
  const [rows] = await context.db.run(
    sql.select({ id: organization.id }).from(organization).where(eq(organization.id, orgId)),
  );
  if (rows.length === 0) throw notFound();
  return context.objects.pool(orgId);
};

const toDeadLetter = ({ at, ...letter }: Omit<DeadLetter, "at"> & { at: number | null }): DeadLetter => ({
  ...letter,
  at: at === null ? null : new Date(at).toISOString(),
});

export const listDeadLetters = verb({
  access: { operator: true },
  query: DeadLetterFilter,
  output: z.array(DeadLetter),
  async run(context, { query }) {
    const { orgId, cursor, limit = DEFAULTS.pageLength } = query;
    const pool = await findPool(context, orgId);
    const letters = await pool.deadLetters(Number(cursor ?? 0), limit + 1);
    const page = letters.slice(0, limit).map(toDeadLetter);
    return new Answer(page, letters.length > limit ? { nextCursor: encodeCursor(String(page.at(-1)?.seq)) } : {});
  },
});

/** Puts dead letters back in their queues. The pool delivers them, or sets them aside again. */
export const retryDeadLetters = verb({
  access: { operator: true },
  body: DeadLetterRetry,
  output: DeadLettersRetried,
  async run(context, { body }) {
    const { orgId } = body;
    const pool = await findPool(context, orgId);
    const seqs = body.seqs ?? (await pool.deadLetters(0, LIMITS.pageLength)).map(({ seq }) => seq);
    const change = { action: "dead-letter.retry", subject: orgId, orgId, detail: { seqs } } as const;
    await context.db.run(auditRow(context, change));
    return { retried: await pool.retryDeadLetters(seqs) };
  },
});
