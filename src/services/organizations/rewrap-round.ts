import { sql } from "drizzle-orm";
import type { Context } from "../core/context.ts";
import { addCounts, type ObjectCounts, type Walk } from "./rewrap-objects.ts";

/*
 * One call of a rotation comes to so many organizations and no more. Where there are more of them, the calls make a
 * round together, and the database remembers how far it is: whoever calls next goes on, and needs to know nothing.
 */
interface Round {
  keyId: string;
  /** The organization up to which the round is through. */
  after: string;
  counts: ObjectCounts;
  /** Whether it sealed something again. What came to its earlier organizations meanwhile is found by the next round. */
  hasSealed: boolean;
}

const newRound = (keyId: string): Round => ({ keyId, after: "", counts: {}, hasSealed: false });

/** The round that goes on, with the text that stands for it in the database. */
export const openRound = async (context: Context, keyId: string): Promise<{ round: Round; text: string }> => {
  const [found] = await context.db.run(
    context.db.statement<{ text: string }>(
      sql`SELECT reason AS text FROM upkeep_failure WHERE kind = 'turn' AND subject = 'rewrap'`,
    ),
  );
  const text = found.results[0]?.text ?? "";
  const stored = text === "" ? null : (JSON.parse(text) as Round);
  return { round: stored?.keyId === keyId ? stored : newRound(keyId), text };
};

/** The round after this walk; null where the walk was the end of it, or all of it. */
export const roundAfter = (round: Round, { done, after, rewrapped }: Walk): Round | null => {
  if (after === null && (done.isAll || round.after === "")) return null;
  const counts = structuredClone(round.counts);
  addCounts(counts, done.counts);
  return { ...round, after: done.after, counts, hasSealed: round.hasSealed || rewrapped > 0 };
};

/** Stores it, unless another call was faster. @returns whether it is stored */
export const keepRound = async (context: Context, before: string, round: Round | null): Promise<boolean> => {
  const text = round === null ? "" : JSON.stringify(round);
  if (text === before) return true;
  const [kept] = await context.db.run(
    context.db.statement<{
      subject: string;
    }>(sql`INSERT INTO upkeep_failure (kind, subject, org_id, tries, next_at, reason)
      VALUES ('turn', 'rewrap', NULL, 0, 0, ${text})
      ON CONFLICT (kind, subject) DO UPDATE SET reason = excluded.reason WHERE upkeep_failure.reason = ${before}
      RETURNING subject`),
  );
  return kept.results.length > 0;
};
