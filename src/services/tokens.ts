import { and, eq, getTableColumns } from "drizzle-orm";
import * as z from "zod/mini";
import { hashToken } from "../crypto/token.ts";
import { ensureUnchanged } from "../db/guard.ts";
import { token } from "../db/schema.ts";
import { isValidToken } from "../db/valid-token.ts";
import { applyDiff, diff } from "../domain/diff.ts";
import { PathId } from "../protocol/common.ts";
import {
  CreatedToken,
  NewToken,
  Token,
  TokenChange,
  TokenFilter,
  TokenRemoval,
  TokenRotation,
} from "../protocol/token.ts";
import { actorOf } from "./agents.ts";
import type { Change, Context } from "./core/context.ts";
import { listing } from "./core/listing.ts";
import { pageOf } from "./core/paging.ts";
import { invalid, notFound, settled } from "./core/refusal.ts";
import { updateOf, verb, writablePart } from "./core/verb.ts";

type Row = typeof token.$inferSelect;

export const tokenRecord = ({ hash: _, previousHash: __, previousUntil: ___, version: ____, ...record }: Row): Token =>
  record;

/** @throws Refusal where a field belongs to the other kind of token */
const checkKind = (kind: Row["kind"], { role, labels }: Partial<Pick<Row, "role" | "labels">>): void => {
  if (kind === "registration" && role) throw invalid("/role", "belongs to tokens of kind api");
  if (kind === "api" && labels) throw invalid("/labels", "belong to tokens of kind registration");
};

/** The time as it is stored. @throws Refusal where it is over */
const expiryOf = (context: Context, text: string | null): string | null => {
  const expiresAt = text === null ? null : new Date(text).toISOString();
  if (expiresAt && expiresAt <= context.at) throw invalid("/expiresAt", "must lie in the future");
  return expiresAt;
};

export const createToken = verb({
  access: { role: "admin" },
  body: NewToken,
  output: CreatedToken,
  async run(context, { body }) {
    const { name, kind } = body;
    checkKind(kind, body);
    const expiresAt = expiryOf(context, body.expiresAt ?? null);
    await context.admit();
    const secret = await context.mint.mint(kind === "api" ? "mrt" : "mrr", context.orgId);
    const role = kind === "api" ? (body.role ?? "member") : null;
    const labels = kind === "registration" ? (body.labels ?? []) : null;
    const row: Row = {
      ...{ id: context.newId(), orgId: context.orgId, hash: await hashToken(secret), name, kind, role, labels },
      ...{ expiresAt, lastUsedAt: null, previousHash: null, previousUntil: null, version: 1, createdAt: context.at },
    };
    const change: Change = { action: "token.create", subject: row.id, detail: { name, kind, role, labels, expiresAt } };
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
    const [[row]] = await db.run(db.sql.select().from(token).where(isValidToken(caller.tokenHash, at)));
    if (!row) throw notFound();
    context.checkVersion(row.version);
    return tokenRecord(row);
  },
});

const one = (context: Context, id: string) => and(eq(token.orgId, context.orgId), eq(token.id, id));

const find = async (context: Context, id: string): Promise<Row | undefined> => {
  const [[row]] = await context.db.run(context.db.sql.select().from(token).where(one(context, id)));
  if (row) context.checkVersion(row.version);
  return row;
};

/** @throws Refusal not-found */
const found = async (context: Context, id: string): Promise<Row> => {
  const row = await find(context, id);
  if (!row) throw notFound();
  return row;
};

export const getToken = verb({
  access: { role: "admin" },
  params: PathId,
  output: Token,
  run: async (context, { params }) => tokenRecord(await found(context, params.id)),
});

/** What it may do, and until when, from the next request on. Agents that it registered keep what they were granted. */
export const updateToken = verb({
  access: { role: "admin" },
  params: PathId,
  body: updateOf(Token, TokenChange),
  output: Token,
  async run(context, { params, body }) {
    const row = await found(context, params.id);
    const { expiresAt, ...change } = writablePart(body, TokenChange, tokenRecord(row));
    checkKind(row.kind, change);
    if (row.kind === "api" && change.role === null) throw invalid("/role", "must be one of a token of kind api");
    if (row.kind === "registration" && change.labels === null) throw invalid("/labels", "must be a list");
    const isMoved = expiresAt !== undefined && expiresAt !== row.expiresAt;
    const moved = isMoved ? { ...change, expiresAt: expiryOf(context, expiresAt) } : change;
    const changes = diff<Partial<Row>>(row, moved);
    if (Object.keys(changes).length === 0) return tokenRecord(row);
    const next = { ...applyDiff(row, changes), version: row.version + 1 };
    const { name, role, labels, version } = next;
    const { sql } = context.db;
    await context.write({ action: "token.update", subject: row.id, detail: { name, changes } }, [
      ensureUnchanged(sql, token, row),
      sql.update(token).set({ name, role, labels, expiresAt: next.expiresAt, version }).where(one(context, row.id)),
    ]);
    context.version = version;
    return tokenRecord(next);
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
    const row = await found(context, params.id);
    const secret = await context.mint.mint(row.kind === "api" ? "mrt" : "mrr", context.orgId);
    const previousUntil = new Date(context.now.getTime() + body.graceSeconds * 1000).toISOString();
    const hash = await hashToken(secret);
    const next = { ...row, hash, previousHash: row.hash, previousUntil, version: row.version + 1 };
    const change: Change = { action: "token.rotate", subject: row.id, detail: { name: row.name, previousUntil } };
    await context.write(change, [
      ensureUnchanged(sql, token, row),
      sql.update(token).set(next).where(one(context, row.id)),
    ]);
    context.version = next.version;
    return { ...tokenRecord(next), token: secret };
  },
});

export const revokeToken = verb({
  access: { role: "admin" },
  params: PathId,
  query: TokenRemoval,
  async run(context, { params, query: { agents } }) {
    const { sql } = context.db;
    const row = await find(context, params.id);
    if (!row && !agents) throw notFound();
    if (row) {
      await context.write({ action: "token.revoke", subject: row.id, detail: { name: row.name, agents } }, [
        ensureUnchanged(sql, token, row),
        sql.delete(token).where(one(context, row.id)),
      ]);
    }
    if (agents) await removeRegistered(context, params.id, row !== undefined);
  },
});

/**
 * Removes what a revoked token registered, some at a time. May be repeated where it was interrupted: the token is gone
 * by then, its agents are not. @throws Refusal not-found where there is neither
 */
const removeRegistered = async (context: Context, tokenId: string, wasThere: boolean): Promise<void> => {
  const pool = await context.pool();
  let isKnown = wasThere;
  for (let left = 1; left > 0; ) {
    const round = settled(await pool.removeAgentsOf({ tokenId, wasThere, actor: actorOf(context) }));
    isKnown ||= round.removed > 0;
    left = round.left;
  }
  if (!isKnown) throw notFound();
};
