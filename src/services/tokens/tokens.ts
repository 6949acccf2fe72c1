import { and, eq, getTableColumns } from "drizzle-orm";
import * as z from "zod/mini";
import { hashToken } from "../../crypto/token.ts";
import { auditLog, token } from "../../db/schema.ts";
import { isValidToken } from "../../db/valid-token.ts";
import { applyDiff, diff } from "../../domain/diff.ts";
import { PathId } from "../../protocol/common.ts";
import {
  CreatedToken,
  NewToken,
  Token,
  TokenChange,
  TokenFilter,
  TokenRemoval,
  TokenRotation,
} from "../../protocol/token.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { type AuditNote, commit, ensureRoom } from "../core/commit.ts";
import { actorOf, type Context } from "../core/context.ts";
import { listing, toPage } from "../core/listing.ts";
import { checkVersion, deleteRow, findOne, lookUp, makeGetter, updateRow } from "../core/record.ts";
import { invalid, notFound, Refusal, settled } from "../core/refusal.ts";
import { makeUpdateSchema, makeView, verb, versioned, writablePart } from "../core/verb.ts";

/**
 * Revokes a name at the pool: a token by its id, a replaced secret by its hash, or a hook by its name. The pool rejects
 * its requests, and notifies D1 again if an operator restores D1 to an earlier time.
 * @throws Refusal unavailable if the pool does not answer
 */
export const tellRevoked = async (context: Context, what: "token" | "hook", name: string): Promise<void> => {
  try {
    settled(await (await context.pool()).revoke([name]));
  } catch (error) {
    const detail = `The ${what} is no longer valid, but a part of the service does not know yet: repeat the request.`;
    throw new Refusal("unavailable", detail, { retryAfterSeconds: 5, cause: error });
  }
};

export type TokenRow = typeof token.$inferSelect;
const COLUMNS = getTableColumns(token);

export const tokenRecord = makeView(Token);

/** The values in a token's row until somebody uses or rotates the token. */
export const UNUSED = { lastUsedAt: null, previousHash: null, previousUntil: null };

const prefixOf = (kind: TokenRow["kind"]) => (kind === "api" ? "mrt" : "mrr");

/** Checks a token's fields. @throws Refusal if a field belongs to the other kind of token */
const checkKind = (kind: TokenRow["kind"], { role, labels }: Partial<Pick<TokenRow, "role" | "labels">>): void => {
  if (kind === "registration" && role) throw invalid("/role", "is only for tokens of kind api");
  if (kind === "api" && labels) throw invalid("/labels", "are only for tokens of kind registration");
};

/** Returns the time in the form of D1's columns (UTC, milliseconds). @throws Refusal if the time has passed */
const checkExpiry = (context: Context, text: string | null): string | null => {
  const expiresAt = text === null ? null : new Date(text).toISOString();
  if (expiresAt && expiresAt <= context.at) throw invalid("/expiresAt", "must be in the future");
  return expiresAt;
};

export const createToken = verb({
  access: { role: "admin" },
  body: NewToken,
  output: CreatedToken,
  async run(context, { body }) {
    const { name, kind } = body;
    checkKind(kind, body);
    const expiresAt = checkExpiry(context, body.expiresAt ?? null);
    await context.admit();
    const secret = await context.keys.mint.mint(prefixOf(kind), context.orgId);
    const role = kind === "api" ? (body.role ?? "member") : null;
    const labels = kind === "registration" ? (body.labels ?? []) : null;
    const row: TokenRow = {
      ...UNUSED,
      id: context.newId(),
      orgId: context.orgId,
      hash: await hashToken(secret),
      name,
      kind,
      role,
      labels,
      expiresAt,
      version: 1,
      createdAt: context.at,
    };
    const change: AuditNote = {
      action: "token.create",
      subject: row.id,
      detail: { name, kind, role, labels, expiresAt },
    };
    await commit(context, change, [ensureRoom(context, "tokens"), context.db.sql.insert(token).values(row)]);
    return { ...tokenRecord(row), token: secret };
  },
});

const tokens = listing(token, COLUMNS, {
  filters: { name: (name) => eq(token.name, name) },
});

export const listTokens = verb({
  access: { role: "admin" },
  query: TokenFilter,
  output: z.array(Token),
  async run(context, { query }) {
    const [rows] = await context.db.run(tokens(context, query));
    return toPage(rows, query, tokenRecord);
  },
});

export const getOwnToken = verb({
  access: { role: "viewer" },
  output: Token,
  async run(context) {
    const { db, caller, at } = context;
    const [[row]] = await db.run(db.sql.select().from(token).where(isValidToken(caller.tokenHash, at)));
    if (!row) throw notFound();
    checkVersion(context, row.version);
    return versioned(tokenRecord(row), row.version);
  },
});

export const getToken = makeGetter("admin", token, COLUMNS, Token, tokenRecord);

/** Changes a token, with effect from the token's next request. Agents that the token registered keep their labels. */
export const updateToken = verb({
  access: { role: "admin" },
  params: PathId,
  body: makeUpdateSchema(Token, TokenChange),
  output: Token,
  async run(context, { params, body }) {
    const row = await findOne(context, token, COLUMNS, params.id);
    const { expiresAt, ...change } = writablePart(body, TokenChange, tokenRecord(row));
    checkKind(row.kind, change);
    if (row.kind === "api" && change.role === null) throw invalid("/role", "must be a role: the token is of kind api");
    if (row.kind === "registration" && change.labels === null) throw invalid("/labels", "must be a list");
    const isMoved = expiresAt !== undefined && expiresAt !== row.expiresAt;
    const target = isMoved ? { ...change, expiresAt: checkExpiry(context, expiresAt) } : change;
    const changes = diff<Partial<TokenRow>>(row, target);
    if (Object.keys(changes).length === 0) return versioned(tokenRecord(row), row.version);
    const next = { ...applyDiff(row, changes), version: row.version + 1 };
    const { name, role, labels, version } = next;
    await commit(
      context,
      { action: "token.update", subject: row.id, detail: { name, changes } },
      updateRow(context, token, row, { name, role, labels, expiresAt: next.expiresAt, version }),
    );
    return versioned(tokenRecord(next), version);
  },
});

/** Replaces the token's secret. The previous one stays valid for `graceSeconds`. */
export const rotateToken = verb({
  access: { role: "admin" },
  params: PathId,
  body: TokenRotation,
  output: CreatedToken,
  async run(context, { params, body }) {
    const row = await findOne(context, token, COLUMNS, params.id);
    const secret = await context.keys.mint.mint(prefixOf(row.kind), context.orgId);
    const previousUntil = new Date(context.now.getTime() + body.graceSeconds * SECOND_MS).toISOString();
    const change = {
      hash: await hashToken(secret),
      previousHash: row.hash,
      previousUntil,
      version: row.version + 1,
    };
    await commit(
      context,
      { action: "token.rotate", subject: row.id, detail: { name: row.name, previousUntil } },
      updateRow(context, token, row, change),
    );
    await tellRevoked(context, "token", row.hash);
    return versioned({ ...tokenRecord(row), token: secret }, change.version);
  },
});

export const revokeToken = verb({
  access: { role: "admin" },
  params: PathId,
  query: TokenRemoval,
  async run(context, { params, query: { agents } }) {
    const row = await lookUp(context, token, COLUMNS, params.id);
    if (!row && (await wasRevoked(context, params.id))) await tellRevoked(context, "token", params.id);
    if (!row && !agents) throw notFound();
    if (row) {
      await commit(
        context,
        { action: "token.revoke", subject: row.id, detail: { name: row.name, agents } },
        deleteRow(context, token, row),
      );
      await tellRevoked(context, "token", row.id);
    }
    if (agents) await removeRegistered(context, params.id, row !== undefined);
  },
});

/** Reports whether a token with this id was revoked. A client repeats a call if that call could not notify the pool. */
const wasRevoked = async ({ db, orgId }: Context, id: string): Promise<boolean> => {
  const isRevocation = and(eq(auditLog.orgId, orgId), eq(auditLog.subject, id), eq(auditLog.action, "token.revoke"));
  const [rows] = await db.run(db.sql.select({ id: auditLog.id }).from(auditLog).where(isRevocation).limit(1));
  return rows.length > 0;
};

/**
 * Removes the agents that a revoked token registered, a batch at a time. A client can repeat an interrupted call, after
 * which the token is deleted but its agents still exist.
 * @throws Refusal not-found if neither exists
 */
const removeRegistered = async (context: Context, tokenId: string, wasThere: boolean): Promise<void> => {
  const pool = await context.pool();
  let isKnown = wasThere;
  for (let remaining = 1; remaining > 0; ) {
    const round = settled(await pool.removeAgentsOf({ tokenId, wasThere, actor: actorOf(context) }));
    isKnown ||= round.removed > 0;
    remaining = round.left;
  }
  if (!isKnown) throw notFound();
};
