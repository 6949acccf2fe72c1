import { and, eq, getTableColumns } from "drizzle-orm";
import * as z from "zod/mini";
import { hashToken } from "../crypto/token.ts";
import { demandUnchanged } from "../db/guard.ts";
import { isLive } from "../db/live-token.ts";
import { token } from "../db/schema.ts";
import { PathId } from "../protocol/common.ts";
import { CreatedToken, NewToken, Token, TokenFilter, TokenRotation } from "../protocol/token.ts";
import { listing } from "./listing.ts";
import { pageOf } from "./paging.ts";
import { invalid, notFound } from "./refusal.ts";
import { verb } from "./verb.ts";

type Row = typeof token.$inferSelect;

export const tokenRecord = ({ hash: _, previousHash: __, previousUntil: ___, version: ____, ...record }: Row): Token =>
  record;

export const createToken = verb({
  access: { role: "admin" },
  body: NewToken,
  output: CreatedToken,
  async run(context, { body }) {
    const { name, kind } = body;
    if (kind === "registration" && body.role) throw invalid("/role", "belongs to tokens of kind api");
    if (kind === "api" && body.labels) throw invalid("/labels", "belong to tokens of kind registration");
    const expiresAt = body.expiresAt ? new Date(body.expiresAt).toISOString() : null;
    if (expiresAt && expiresAt <= context.at) throw invalid("/expiresAt", "must lie in the future");
    await context.admit();
    const secret = await context.mint.mint(kind === "api" ? "mrt" : "mrr", context.orgId);
    const role = kind === "api" ? (body.role ?? "member") : null;
    const labels = kind === "registration" ? (body.labels ?? []) : null;
    const row: Row = {
      ...{ id: context.newId(), orgId: context.orgId, hash: await hashToken(secret), name, kind, role, labels },
      ...{ expiresAt, lastUsedAt: null, previousHash: null, previousUntil: null, version: 1, createdAt: context.at },
    };
    const change = { action: "token.create", subject: row.id, detail: { name, kind, role, labels, expiresAt } };
    await context.write(change, [context.db.sql.insert(token).values(row)]);
    return { ...tokenRecord(row), token: secret };
  },
});

const tokens = listing(token, getTableColumns(token), {
  filters: { name: (name) => eq(token.name, name) },
});

export const listTokens = verb({
  access: { role: "admin" },
  query: TokenFilter,
  output: z.array(Token),
  async run(context, { query }) {
    const [rows] = await context.db.run(tokens(context, query));
    return pageOf(context, rows, query).map(tokenRecord);
  },
});

export const ownToken = verb({
  access: { role: "viewer" },
  output: Token,
  async run(context) {
    const { db, caller, at } = context;
    const [[row]] = await db.run(db.sql.select().from(token).where(isLive(caller.tokenHash, at)));
    if (!row) throw notFound();
    context.checkVersion(row.version);
    return tokenRecord(row);
  },
});

/** A new secret for the same token; the one before is good until the grace is over. */
export const rotateToken = verb({
  access: { role: "admin" },
  params: PathId,
  body: TokenRotation,
  output: CreatedToken,
  async run(context, { params, body }) {
    const { sql } = context.db;
    const mine = and(eq(token.orgId, context.orgId), eq(token.id, params.id));
    const [[row]] = await context.db.run(sql.select().from(token).where(mine));
    if (!row) throw notFound();
    context.checkVersion(row.version);
    const secret = await context.mint.mint(row.kind === "api" ? "mrt" : "mrr", context.orgId);
    const previousUntil = new Date(context.now.getTime() + body.graceSeconds * 1000).toISOString();
    const hash = await hashToken(secret);
    const next = { ...row, hash, previousHash: row.hash, previousUntil, version: row.version + 1 };
    const change = { action: "token.rotate", subject: row.id, detail: { name: row.name, previousUntil } };
    await context.write(change, [demandUnchanged(sql, token, row), sql.update(token).set(next).where(mine)]);
    context.version = next.version;
    return { ...tokenRecord(next), token: secret };
  },
});

export const revokeToken = verb({
  access: { role: "admin" },
  params: PathId,
  async run(context, { params }) {
    const { sql } = context.db;
    const mine = and(eq(token.orgId, context.orgId), eq(token.id, params.id));
    const [[row]] = await context.db.run(sql.select().from(token).where(mine));
    if (!row) throw notFound();
    context.checkVersion(row.version);
    await context.write({ action: "token.revoke", subject: row.id, detail: { name: row.name } }, [
      demandUnchanged(sql, token, row),
      sql.delete(token).where(mine),
    ]);
  },
});
