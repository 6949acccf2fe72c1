import { and, eq, isNull, lt, or } from "drizzle-orm";
import { sameText } from "../../crypto/signer.ts";
import { hashToken, loadMint, type TokenPrefix } from "../../crypto/token.ts";
import { databaseOf } from "../../db/database-of.ts";
import { token } from "../../db/schema.ts";
import { DatabaseSession } from "../../db/session.ts";
import type { ValidToken } from "../../db/valid-token.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { type Access, type Admitted, type Caller, type CallerKind, checkAccess } from "./access.ts";
import type { ObjectStubs } from "./object-stubs.ts";
import { Refusal, settled, tokenInvalid } from "./refusal.ts";
import { usable } from "./sealing.ts";

const KINDS: Record<Exclude<TokenPrefix, "mro">, CallerKind> = { mrt: "api", mrr: "registration", mra: "agent" };

/**
 * Reads the caller from the Authorization header. The token's tag exposes a forgery without a query.
 * @throws Refusal unauthenticated, or keyring-unavailable if TOKEN_KEYS cannot be used
 */
export const identify = async (
  env: Pick<Env, "OPERATOR_TOKEN" | "TOKEN_KEYS">,
  authorization: string | null,
): Promise<Caller> => {
  const [, token = ""] = /^Bearer ([\x21-\x7e]{1,200})$/i.exec(authorization ?? "") ?? [];
  if (token === "") throw new Refusal("unauthenticated", "Send the header `Authorization: Bearer <token>`.");
  const tokenHash = await hashToken(token);
  const operator = env.OPERATOR_TOKEN ?? "";
  if (operator.length >= LIMITS.operatorTokenCharacters && sameText(token, operator)) {
    return { kind: "operator", orgId: "", tokenHash };
  }
  const recognized = await usable("TOKEN_KEYS", () => loadMint(env.TOKEN_KEYS)).recognize(token);
  if (!recognized || recognized.prefix === "mro") throw tokenInvalid();
  return { kind: KINDS[recognized.prefix], orgId: recognized.orgId, tokenHash };
};

/** Milliseconds between two updates of a token's `lastUsedAt`, at least. */
const LAST_USED_EVERY_MS = MINUTE_MS;

interface AdmissionParts {
  env: Pick<Env, "DB">;
  caller: Caller;
  access: Access;
  db: DatabaseSession;
  objects: ObjectStubs;
  now: Date;
  waitUntil(work: Promise<unknown>): void;
}

/**
 * Checks once per request that the caller's token is valid and may call the verb. The first D1 query checks an API or
 * registration token, and the pool checks an agent's token. The operator's token and a git host need no query.
 */
export class Admission {
  readonly #parts: AdmissionParts;
  #admitted: Admitted | undefined;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    const { db, now } = parts;
    const { kind, tokenHash, sessionId = null } = parts.caller;
    if (kind === "api" || kind === "registration") {
      db.checkTokenFirst(tokenHash, sessionId, now.toISOString(), (row) => this.#admitToken(row));
    }
  }

  /** Rejects callers that no D1 query checks: the operator, and agents on a route that is not for agents. */
  async admitEarly(): Promise<void> {
    const { kind } = this.#parts.caller;
    if (kind === "operator" || (kind === "agent" && !this.#parts.access.agent)) await this.admit();
  }

  /** Admits the caller, for verbs that do not begin with a D1 query. A second call does nothing. @throws Refusal */
  async admit(): Promise<Admitted> {
    if (!this.#admitted) {
      const { kind, connectionId } = this.#parts.caller;
      if (kind === "agent") await this.#admitAgent();
      else if (kind === "operator") this.#admitUnasked("operator", "operator");
      else if (kind === "connection") this.#admitUnasked("connection", `connection:${connectionId}`);
      else await this.#parts.db.run();
    }
    return this.admitted;
  }

  /** The caller, after D1's first answer or after `admit`. */
  get admitted(): Admitted {
    if (!this.#admitted) throw new Error("The caller was not admitted before its name was needed");
    return this.#admitted;
  }

  /** The caller's name for the log; null if the caller is not admitted. */
  get actor(): string | null {
    return this.#admitted?.actor ?? null;
  }

  async #admitAgent(): Promise<void> {
    const { caller, access, objects } = this.#parts;
    const { agentId } = settled(await objects.pool(caller.orgId).authenticateAgent(caller.tokenHash));
    checkAccess(access, "agent", null);
    this.#admitted = { actor: `agent:${agentId}`, kind: "agent", role: null, labels: null, agentId, token: null };
  }

  #admitUnasked(kind: "operator" | "connection", actor: string): void {
    checkAccess(this.#parts.access, kind, null);
    this.#admitted = { actor, kind, role: null, labels: null, agentId: null, token: null };
  }

  #admitToken(row: ValidToken | undefined): void {
    if (!row) throw tokenInvalid();
    checkAccess(this.#parts.access, row.kind, row.role);
    const { id, name, kind, role, labels } = row;
    this.#admitted = { actor: `token:${id}`, kind, role, labels, agentId: null, token: { id, name, kind } };
    if (Date.parse(row.lastUsedAt ?? "") + LAST_USED_EVERY_MS > this.#parts.now.getTime()) return;
    this.#parts.waitUntil(this.#recordUse(id));
  }

  /**
   * Records that the token was used. Uses its own D1 session, so that the request's bookmark and counts do not depend
   * on this write.
   */
  async #recordUse(id: string): Promise<void> {
    const { env, caller, now } = this.#parts;
    const before = new Date(now.getTime() - LAST_USED_EVERY_MS).toISOString();
    const db = new DatabaseSession(databaseOf(env, caller.orgId), "first-primary");
    const isDue = or(isNull(token.lastUsedAt), lt(token.lastUsedAt, before));
    await db.run(
      db.sql
        .update(token)
        .set({ lastUsedAt: now.toISOString() })
        .where(and(eq(token.id, id), isDue)),
    );
  }
}
