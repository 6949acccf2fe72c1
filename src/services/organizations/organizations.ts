import { asc, eq, gt, notExists, sql } from "drizzle-orm";
import * as z from "zod/mini";
import { hashToken } from "../../crypto/token.ts";
import { ensure } from "../../db/guard.ts";
import { formerOrganization, organization, token } from "../../db/schema.ts";
import { diff } from "../../domain/diff.ts";
import { log } from "../../log.ts";
import { OrgId } from "../../protocol/common.ts";
import {
  CreatedOrganization,
  changedLimits,
  effectiveLimits,
  NewOrganization,
  Organization,
  OrganizationChange,
} from "../../protocol/organization.ts";
import { OrganizationFilter } from "../../protocol/page.ts";
import { CreatedToken } from "../../protocol/token.ts";
import { type AuditNote, commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { NO_LIMIT, toPage } from "../core/listing.ts";
import { notFound, Refusal } from "../core/refusal.ts";
import { makeUpdateSchema, makeView, verb, writablePart } from "../core/verb.ts";
import { type TokenRow, tokenRecord, UNUSED } from "../tokens/tokens.ts";

export const PathOrg = z.object({ id: OrgId });

type Row = typeof organization.$inferSelect;

const view = makeView(Organization);
export const organizationRecord = (row: Row): Organization => view({ ...row, limits: effectiveLimits(row.limits) });

/** @throws Refusal not-found */
const findOrganization = async ({ db }: Context, id: string): Promise<Row> => {
  const [[row]] = await db.run(db.sql.select().from(organization).where(eq(organization.id, id)));
  if (!row) throw notFound();
  return row;
};

/** Creates a token with role admin, and its row. */
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
    const { secret, row: admin } = await newAdmin(context, id, "admin");
    const row: Row = {
      id,
      name,
      locationHint,
      createdAt: context.at,
      deletingAt: null,
      limits: null,
      variableCount: 0,
    };
    const { sql: db } = context.db;
    await context.admit();
    const former = db.select().from(formerOrganization).where(eq(formerOrganization.id, id));
    const [[deleted]] = await context.db.run(former);
    if (deleted) throw new Refusal("duplicate", "A deleted organization had this slug: choose another one.");
    await commit(
      context,
      { action: "organization.create", subject: id, orgId: id },
      [ensure(db, "unchanged", notExists(former)), db.insert(organization).values(row), db.insert(token).values(admin)],
      db.select({ id: organization.id }).from(organization).where(eq(organization.id, id)),
    );
    // This call creates the pool at the place that the hint names.
    await context.objects.pool(id, locationHint ?? undefined).touch();
    return { ...organizationRecord(row), token: secret };
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
    return toPage(rows, query, organizationRecord);
  },
});

/** Sets an organization's limits. None of the organization's own tokens may set them. */
export const updateOrganization = verb({
  access: { operator: true },
  params: PathOrg,
  body: makeUpdateSchema(Organization, OrganizationChange),
  output: Organization,
  async run(context, { params: { id }, body }) {
    await context.admit();
    const { sql: db } = context.db;
    const row = await findOrganization(context, id);
    const change = writablePart(body, OrganizationChange, organizationRecord(row));
    const next: Row = { ...row, limits: changedLimits(row.limits, change.limits ?? {}) };
    const changes = diff(effectiveLimits(row.limits), effectiveLimits(next.limits));
    if (Object.keys(changes).length > 0) {
      const read = row.limits && JSON.stringify(row.limits);
      const isUnchanged = sql`EXISTS (SELECT 1 FROM organization WHERE id = ${id} AND limits IS ${read})`;
      await commit(context, { action: "organization.update", subject: id, orgId: id, detail: { changes } }, [
        ensure(db, "unchanged", isUnchanged),
        db.update(organization).set({ limits: next.limits }).where(eq(organization.id, id)),
      ]);
    }
    // Notify the pool even if nothing changed, because a client may repeat a call that was lost.
    const whenSent = context.objects.pool(id).limitsChanged(next.limits);
    await whenSent.catch((error) => log.error("pool.limits_unsent", { orgId: id, error }));
    return organizationRecord(next);
  },
});

export const createAdminToken = verb({
  access: { operator: true },
  params: PathOrg,
  output: CreatedToken,
  async run(context, { params }) {
    await context.admit();
    const { sql: db } = context.db;
    const organizationRow = await findOrganization(context, params.id);
    if (organizationRow.deletingAt) throw new Refusal("conflict", "This organization is being deleted.");
    const isKept = sql`EXISTS (SELECT 1 FROM organization WHERE id = ${params.id} AND deleting_at IS NULL)`;
    const { secret, row } = await newAdmin(context, params.id, "admin by the operator");
    const change: AuditNote = { action: "token.create", subject: row.id, orgId: params.id, detail: { role: "admin" } };
    await commit(context, change, [ensure(db, "unchanged", isKept), db.insert(token).values(row)]);
    return { ...tokenRecord(row), token: secret };
  },
});
