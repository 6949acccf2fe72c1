import { and, eq, gt, isNull, notExists, or, type Placeholder, sql } from "drizzle-orm";
import { compiled } from "./compiled.ts";
import { endedSession, token } from "./schema.ts";

type Text = string | Placeholder;

/**
 * The condition for a valid token. The token has not expired, and the hash is its current one, or its previous one
 * during the rotation's grace period.
 */
export const isValidToken = (hash: Text, now: Text) =>
  and(
    or(eq(token.hash, hash), and(eq(token.previousHash, hash), gt(token.previousUntil, now))),
    or(isNull(token.expiresAt), gt(token.expiresAt, now)),
  );

const { id, name, kind, role, labels, lastUsedAt } = token;
const COLUMNS = { id, name, kind, role, labels, lastUsedAt };

/**
 * The first query of a request, which reads the caller's token if it is valid. `session` is the id of the dashboard
 * session that holds the token and must not have ended, or an empty text.
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
