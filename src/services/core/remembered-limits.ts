import { eq } from "drizzle-orm";
import { organization } from "../../db/schema.ts";
import type { DatabaseSession } from "../../db/session.ts";
import { limitsOf, type OrganizationLimits } from "../../protocol/organization-limits.ts";

/** Milliseconds for which an isolate remembers what the operator has set. */
const KNOWN_MS = 60_000;

const known = new Map<string, { limits: OrganizationLimits; until: number }>();

/**
 * The limits of an organization, for requests that ask the database nothing else: up to a minute old. While the
 * database is away they are the last that were read, or the defaults, so that builds go on.
 */
export const rememberedLimits = async (db: DatabaseSession, orgId: string): Promise<OrganizationLimits> => {
  const before = known.get(orgId);
  if (before && before.until > Date.now()) return before.limits;
  const query = db.sql.select({ limits: organization.limits }).from(organization).where(eq(organization.id, orgId));
  try {
    const [[row]] = await db.run(query);
    const limits = limitsOf(row?.limits);
    known.set(orgId, { limits, until: Date.now() + KNOWN_MS });
    return limits;
  } catch {
    return before?.limits ?? limitsOf(null);
  }
};
