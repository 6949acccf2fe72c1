import { and, isNotNull, sql } from "drizzle-orm";
import { sharedDatabase } from "../../db/database-of.ts";
import { organization } from "../../db/schema.ts";
import { DatabaseSession } from "../../db/session.ts";
import { removeShare } from "../organization-removal.ts";
import { type Chore, NOTHING } from "./run.ts";

/** Shorter than a chore may take: one that hangs is set aside by itself. */
const REMOVAL_MS = 60_000;

/**
 * Goes on with the removals that an operator began, a share of one organization in each run. One that fails or hangs is
 * set aside, and holds up no other.
 */
export const finishRemovals: Chore = async ({ env, now, failures, turn }) => {
  const db = new DatabaseSession(sharedDatabase(env), "first-primary");
  const isLeaving = and(isNotNull(organization.deletingAt), failures.isDue("removal", sql`${organization.id}`));
  const [leaving] = await db.run(db.sql.select().from(organization).where(isLeaving).orderBy(organization.id));
  const next = leaving.find(({ id }) => id > turn.place) ?? leaving[0];
  if (!next) return NOTHING;
  const { id, deletingAt } = next;
  const subject = { kind: "removal", subject: id, orgId: id } as const;
  const share = await failures.attempt(subject, REMOVAL_MS, async () => ({
    left: await removeShare(env, { id, deletingAt: deletingAt ?? "" }, new Date(now)),
  }));
  if (share) console.log(JSON.stringify({ removal: share.left ?? { id, step: "done" } }));
  // Nothing names an organization that is gone.
  turn.place = leaving.length > 1 && share?.left !== null ? id : "";
  return { removals: 1 };
};
