import { sql } from "drizzle-orm";
import type { Build } from "../protocol/build.ts";
import type { Context } from "./core/context.ts";

/** The name of the token that canceled the build; null where nobody did, or the token is gone. */
export const findCanceler = async ({ db, orgId }: Context, { id }: Pick<Build, "id">): Promise<string | null> => {
  const [{ results }] = await db.run(
    db.statement<{ name: string }>(sql`
      SELECT t.name FROM audit_log a JOIN token t ON a.actor = 'token:' || t.id AND t.org_id = a.org_id
      WHERE a.org_id = ${orgId} AND a.subject = ${id} AND a.action = 'build.cancel' ORDER BY a.id DESC LIMIT 1`),
  );
  return results[0]?.name ?? null;
};
