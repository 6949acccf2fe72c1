import { and, eq, gt, isNull, notExists, or, type Placeholder, sql } from "drizzle-orm";
import { compiled } from "./compiled.ts";
import { endedSession, token } from "./schema.ts";

type Text = string | Placeholder;

/** The token with this hash, or with it until its rotation's grace is over, unless it has expired; a revoked one is gone. */
export const isValidToken = (hash: Text, now: Text) =>
  and(
    or(eq(token.hash, hash), and(eq(token.previousHash, hash), gt(token.previousUntil, now))),
    or(isNull(token.expiresAt), gt(token.expiresAt, now)),
  );

const { id, name, kind, role, labels, lastUsedAt } = token;
const COLUMNS = { id, name, kind, role, labels, lastUsedAt };

/**
 * What a request's first batch begins with: what the caller's token, if it is live, says of the caller. Where it comes
 * from a session (empty: it does not), that must not have been ended.
 */
export const validToken = compiled(COLUMNS, (db) =>
  db
    .select(COLUMNS)
    .from(token)
    .where(
      and(
        isValidToken(sql.placeholder("hash"), sql.placeholder("now")),
        notExists(
          db
            .select({ id: endedSession.id })
            .from(endedSession)
            .where(eq(endedSession.id, sql.placeholder("session"))),
        ),
      ),
    ),
);
export type ValidToken = Awaited<ReturnType<typeof validToken>>[number];
