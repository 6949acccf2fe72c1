import { asc, eq, gt } from "drizzle-orm";
import * as z from "zod/mini";
import { hashToken } from "../crypto/token.ts";
import { organization, token } from "../db/schema.ts";
import { OrgId } from "../protocol/common.ts";
import { CreatedOrganization, NewOrganization, Organization } from "../protocol/organization.ts";
import { OrganizationFilter } from "../protocol/page.ts";
import { CreatedToken } from "../protocol/token.ts";
import type { Change, Context } from "./core/context.ts";
import { pageOf } from "./core/paging.ts";
import { notFound } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { tokenRecord } from "./tokens.ts";

const PathOrg = z.object({ id: OrgId });

const newAdmin = async (context: Context, orgId: string, name: string) => {
  const secret = await context.mint.mint("mrt", orgId);
  const row: typeof token.$inferSelect = {
    ...{ id: context.newId(), orgId, hash: await hashToken(secret), name, kind: "api", role: "admin" },
    ...{
      labels: null,
      expiresAt: null,
      lastUsedAt: null,
      previousHash: null,
      previousUntil: null,
      version: 1,
      createdAt: context.at,
    },
  };
  return { secret, row };
};

export const createOrganization = verb({
  access: { operator: true },
  body: NewOrganization,
  output: CreatedOrganization,
  async run(context, { body }) {
    const { id, name, locationHint = null } = body;
    const { secret, row } = await newAdmin(context, id, "admin");
    const record = { id, name, locationHint: locationHint ?? null, createdAt: context.at };
    const { sql } = context.db;
    await context.write(
      { action: "organization.create", subject: id, orgId: id },
      [sql.insert(organization).values(record), sql.insert(token).values(row)],
      sql.select({ id: organization.id }).from(organization).where(eq(organization.id, id)),
    );
    await context.poolOf(id, record.locationHint ?? undefined).listAgents();
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
    const later = context.db.sql.select().from(organization).where(gt(organization.id, cursor));
    const [rows] = await context.db.run(later.orderBy(asc(organization.id)).limit((limit ?? -2) + 1));
    return pageOf(context, rows, query);
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
    await context.write(change, [sql.insert(token).values(row)]);
    return { ...tokenRecord(row), token: secret };
  },
});
