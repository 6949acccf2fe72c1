import { asc, eq, gt } from "drizzle-orm";
import * as z from "zod/mini";
import { hashToken } from "../crypto/token.ts";
import { organization, token } from "../db/schema.ts";
import { OrgId } from "../protocol/common.ts";
import { CreatedOrganization, NewOrganization, Organization } from "../protocol/organization.ts";
import { OrganizationFilter } from "../protocol/page.ts";
import { CreatedToken } from "../protocol/token.ts";
import { type Change, commit } from "./core/commit.ts";
import type { Context } from "./core/context.ts";
import { NO_LIMIT, pageOf } from "./core/listing.ts";
import { notFound } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { viewOf } from "./core/view.ts";
import { type TokenRow, tokenRecord, UNUSED } from "./tokens.ts";

const PathOrg = z.object({ id: OrgId });

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
    const record = { id, name, locationHint, createdAt: context.at };
    const { sql } = context.db;
    await commit(
      context,
      { action: "organization.create", subject: id, orgId: id },
      [sql.insert(organization).values(record), sql.insert(token).values(row)],
      sql.select({ id: organization.id }).from(organization).where(eq(organization.id, id)),
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
    const { sql } = context.db;
    const [[found]] = await context.db.run(sql.select().from(organization).where(eq(organization.id, params.id)));
    if (!found) throw notFound();
    const { secret, row } = await newAdmin(context, params.id, "admin by the operator");
    const change: Change = { action: "token.create", subject: row.id, orgId: params.id, detail: { role: "admin" } };
    await commit(context, change, [sql.insert(token).values(row)]);
    return { ...tokenRecord(row), token: secret };
  },
});
