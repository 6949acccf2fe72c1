import { asc, eq, gt, notExists, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { hashToken } from "../crypto/token.ts";
import { ensure } from "../db/guard.ts";
import { formerOrganization, organization, token } from "../db/schema.ts";
import { OrgId } from "../protocol/common.ts";
import { CreatedOrganization, NewOrganization, Organization } from "../protocol/organization.ts";
import { OrganizationFilter } from "../protocol/page.ts";
import { CreatedToken } from "../protocol/token.ts";
import { type Change, commit } from "./core/commit.ts";
import type { Context } from "./core/context.ts";
import { NO_LIMIT, pageOf } from "./core/listing.ts";
import { notFound, Refusal } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { viewOf } from "./core/view.ts";
import { type TokenRow, tokenRecord, UNUSED } from "./tokens.ts";

export const PathOrg = z.object({ id: OrgId });

const organizationRecord = viewOf(Organization);

/** A token with role admin, and its row. */
const newAdmin = async (context: Context, orgId: string, name: string) => {
  const secret = await context.keys.mint.mint("mrt", orgId);
  const row: TokenRow = {
    ...UNUSED,
    id: context.newId(),
    orgId,
    hash: await hashToken(secret),
    name,
    kind: "api",
    role: "admin",
    labels: null,
    expiresAt: null,
    version: 1,
    createdAt: context.at,
  };
  return { secret, row };
};

export const createOrganization = verb({
  access: { operator: true },
  body: NewOrganization,
  output: CreatedOrganization,
  async run(context, { body }) {
    const { id, name } = body;
    const locationHint = body.locationHint ?? null;
    const { secret, row } = await newAdmin(context, id, "admin");
    const record = { id, name, locationHint, createdAt: context.at, deletingAt: null };
    const { sql: db } = context.db;
    await context.admit();
    const former = db.select().from(formerOrganization).where(eq(formerOrganization.id, id));
    const [[deleted]] = await context.db.run(former);
    if (deleted) throw new Refusal("duplicate", "An organization that was deleted had this slug: choose another one.");
    await commit(
      context,
      { action: "organization.create", subject: id, orgId: id },
      [
        ensure(db, "unchanged", notExists(former)),
        db.insert(organization).values(record),
        db.insert(token).values(row),
      ],
      db.select({ id: organization.id }).from(organization).where(eq(organization.id, id)),
    );
    // Creates the pool where the hint says. `touch()` replaces this once every deployed pool has it.
    await context.objects.pool(id, locationHint ?? undefined).listAgents();
    return { ...record, token: secret };
  },
});

export const listOrganizations = verb({
  access: { operator: true },
  query: OrganizationFilter,
  output: z.array(Organization),
  async run(context, { query }) {
    await context.admit();
    const { cursor = "", limit } = query;
    const after = context.db.sql.select().from(organization).where(gt(organization.id, cursor));
    const atMost = limit === undefined ? NO_LIMIT : limit + 1;
    const [rows] = await context.db.run(after.orderBy(asc(organization.id)).limit(atMost));
    return pageOf(rows, query, organizationRecord);
  },
});

export const createAdminToken = verb({
  access: { operator: true },
  params: PathOrg,
  output: CreatedToken,
  async run(context, { params }) {
    await context.admit();
    const { sql: db } = context.db;
    const [[found]] = await context.db.run(db.select().from(organization).where(eq(organization.id, params.id)));
    if (!found) throw notFound();
    if (found.deletingAt) throw new Refusal("conflict", "This organization is being deleted.");
    const isKept = sql`EXISTS (SELECT 1 FROM organization WHERE id = ${params.id} AND deleting_at IS NULL)`;
    const { secret, row } = await newAdmin(context, params.id, "admin by the operator");
    const change: Change = { action: "token.create", subject: row.id, orgId: params.id, detail: { role: "admin" } };
    await commit(context, change, [ensure(db, "unchanged", isKept), db.insert(token).values(row)]);
    return { ...tokenRecord(row), token: secret };
  },
});
