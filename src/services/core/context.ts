import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import { v7 as uuid } from "uuid";
import type { Config } from "../../config.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import { loadMint, type TokenMint } from "../../crypto/token.ts";
import { auditRow } from "../../db/audit.ts";
import { ensure, explainRollback, PreconditionFailed, UniqueViolation } from "../../db/guard.ts";
import { token } from "../../db/schema.ts";
import { DatabaseSession, type Query } from "../../db/session.ts";
import { isValidToken, type ValidToken } from "../../db/valid-token.ts";
import { buildLogName, poolName } from "../../domain/object-names.ts";
import type { AgentPool } from "../../objects/agent-pool.ts";
import type { BuildLog } from "../../objects/build-log.ts";
import type { AuditAction } from "../../protocol/audit.ts";
import { HOP_HEADERS } from "../../protocol/headers.ts";
import { BOOT_HEADER } from "../../protocol/jobs.ts";
import { type Access, type Admitted, type Caller, checkAccess } from "./access.ts";
import { invalid, Refusal, settled, tokenInvalid } from "./refusal.ts";
import { checkedKeyring, openStored, usable } from "./sealing.ts";

const USE_NOTED_EVERY_MS = 60_000;

export interface Change {
  action: AuditAction;
  subject: string;
  /** The organization it belongs to, where that is not the caller's (the operator has none). */
  orgId?: string;
  /** Names and numbers, never values. */
  detail?: Record<string, unknown>;
}

interface Parts {
  env: Env;
  config: Config;
  caller: Caller;
  access: Access;
  requestId: string;
  now: Date;
  origin: string;
  /** Where a client asked to read its own writes: what an earlier answer gave it. */
  bookmark: string | null;
  /** What an agent program calls its present run. */
  bootId: string | null;
  writes: boolean;
  later(work: Promise<unknown>): void;
}

/** What a use case has at hand for one request, and the gate its caller comes through. */
export class Context {
  readonly config: Config;
  readonly caller: Caller;
  readonly requestId: string;
  readonly now: Date;
  /** Scheme and host by which the caller reaches the service. */
  readonly origin: string;
  readonly db: DatabaseSession;
  /** The lease an agent names in its header. */
  lease: number | null = null;
  /** What the answer's headers say: where the next page begins, and the record's version. */
  nextCursor: string | null = null;
  version: number | null = null;
  /** Versions a client names in If-Match; null where it names none. */
  ifMatch: string[] | null = null;
  idempotencyKey: string | null = null;
  readonly #parts: Parts;
  #admitted: Admitted | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.config = parts.config;
    this.caller = parts.caller;
    this.requestId = parts.requestId;
    this.now = parts.now;
    this.origin = parts.origin;
    this.db = new DatabaseSession(
      parts.env.DB,
      parts.writes ? "first-primary" : (parts.bookmark ?? "first-unconstrained"),
    );
    const { kind, tokenHash, sessionId = null } = parts.caller;
    if (kind === "api" || kind === "registration") {
      this.db.checkTokenFirst(tokenHash, sessionId, this.at, (row) => this.#admitToken(row));
    }
  }

  get bootId(): string | null {
    return this.#parts.bootId;
  }

  get orgId(): string {
    return this.caller.orgId;
  }

  /** The request's time as stored. */
  get at(): string {
    return this.now.toISOString();
  }

  /** Notes the version for the ETag. @throws Refusal stale-version where the client expects another */
  checkVersion(version: number): void {
    const matches = this.ifMatch?.some((tag) => tag === "*" || tag === entityTag(version));
    if (matches === false) throw new Refusal("stale-version", "It was changed since you read it: read it again.");
    this.version = version;
  }

  newId(): string {
    return uuid({ msecs: this.now.getTime() });
  }

  /** Turns away at once whoever D1 would not: the operator and agents on a route that is not theirs. */
  async enter(): Promise<void> {
    const { kind } = this.caller;
    if (kind === "operator" || (kind === "agent" && !this.#parts.access.agent)) await this.admit();
  }

  /** Checks the caller unless that has been done: for verbs whose first step is no question to D1. */
  async admit(): Promise<Admitted> {
    const { kind, tokenHash } = this.caller;
    if (!this.#admitted && kind === "agent") {
      const { agentId } = settled(await this.poolOf(this.orgId).authenticateAgent(tokenHash));
      checkAccess(this.#parts.access, kind, null);
      this.#admitted = { actor: `agent:${agentId}`, kind, role: null, labels: null, agentId, token: null };
    }
    if (!this.#admitted && kind === "operator") {
      checkAccess(this.#parts.access, kind, null);
      this.#admitted = { actor: "operator", kind, role: null, labels: null, agentId: null, token: null };
    }
    if (!this.#admitted) await this.db.run();
    return this.admitted;
  }

  /** The caller, once the first answer of D1 or `admit` has let it in. */
  get admitted(): Admitted {
    if (!this.#admitted) throw new Error("The caller was not admitted before its name was needed");
    return this.#admitted;
  }

  /** The caller's name for the log, or null while nobody was let in. */
  get actor(): string | null {
    return this.#admitted?.actor ?? null;
  }

  #admitToken(row: ValidToken): void {
    checkAccess(this.#parts.access, row.kind, row.role);
    const { id, name, kind, role, labels } = row;
    this.#admitted = { actor: `token:${id}`, kind, role, labels, agentId: null, token: { id, name, kind } };
    if (Date.parse(row.lastUsedAt ?? "") + USE_NOTED_EVERY_MS > this.now.getTime()) return;
    this.#parts.later(this.#noteUse(row.id));
  }

  async #noteUse(id: string): Promise<void> {
    const before = new Date(this.now.getTime() - USE_NOTED_EVERY_MS).toISOString();
    const stale = or(isNull(token.lastUsedAt), lt(token.lastUsedAt, before));
    const { sql: builder } = new DatabaseSession(this.#parts.env.DB, "first-primary");
    await builder.batch([
      builder
        .update(token)
        .set({ lastUsedAt: this.at })
        .where(and(eq(token.id, id), stale)),
    ]);
  }

  /**
   * Commits statements with their audit row in one batch, if the caller's token is live at that moment.
   * @throws Refusal where D1 rolled it back: `existing` finds the row that was already there
   */
  async write(change: Change, statements: Query[], existing?: Query): Promise<void> {
    const { actor } = await this.admit();
    const db = this.db.sql;
    const live = sql`EXISTS (SELECT 1 FROM ${token} WHERE ${isValidToken(this.caller.tokenHash, this.at)})`;
    const guards = this.caller.kind === "operator" ? [] : [ensure(db, "token_live", live)];
    const { at, requestId } = this;
    const { action, subject, orgId = this.orgId, detail = {} } = change;
    const row = auditRow(db, { id: this.newId(), orgId, at, actor, action, subject, requestId, detail });
    try {
      await this.db.run(...guards, ...statements, row);
    } catch (error) {
      throw await this.#refusalFor(explainRollback(error), existing);
    }
  }

  async #refusalFor(reason: unknown, existing: Query | undefined): Promise<unknown> {
    if (reason instanceof UniqueViolation && existing) {
      const [rows] = (await this.db.run(existing)) as [{ id: string }[]];
      return new Refusal("duplicate", "There is already one like this: see existingId.", { existingId: rows[0]?.id });
    }
    if (!(reason instanceof PreconditionFailed)) return reason;
    switch (reason.precondition) {
      case "token_live":
        return tokenInvalid();
      case "unchanged":
        return new Refusal("conflict", "It was changed at the same moment: read it again and repeat.");
      case "owner_exists":
        return invalid("", "An id in the request is not one of this organization.");
      case "unused":
        return new Refusal("in-use", "Something still uses it.");
      case "within_limit":
        return new Refusal("limit-reached", "A limit of the organization is reached.");
    }
  }

  /** The pool of the caller's organization, once the caller is admitted. */
  async pool(): Promise<DurableObjectStub<AgentPool>> {
    await this.admit();
    return this.poolOf(this.orgId);
  }

  /** The pool itself, for calls that it judges by the agent's token. */
  poolOf(orgId: string, locationHint?: DurableObjectLocationHint): DurableObjectStub<AgentPool> {
    return this.#parts.env.AGENT_POOL.getByName(poolName(orgId), locationHint ? { locationHint } : undefined);
  }

  /** A socket to the pool on which hints for the agent come, until `deadline` (milliseconds since 1970) if there is one. */
  connectToPool(agentId: string, deadline: number | null) {
    const { tokenHash } = this.caller;
    const headers: Record<string, string> = {
      Upgrade: "websocket",
      [HOP_HEADERS.agentId]: agentId,
      [HOP_HEADERS.tokenHash]: tokenHash,
    };
    if (this.bootId !== null) headers[BOOT_HEADER] = this.bootId;
    if (deadline !== null) headers[HOP_HEADERS.deadline] = String(deadline);
    return this.poolOf(this.orgId).fetch("https://pool/wait", { headers });
  }

  logOf(buildId: string, orgId = this.orgId): DurableObjectStub<BuildLog> {
    return this.#parts.env.BUILD_LOG.getByName(buildLogName(orgId, buildId));
  }

  /** Work that the answer does not wait for. */
  later(work: Promise<unknown>): void {
    this.#parts.later(work);
  }

  /** @throws Refusal keyring-unavailable */
  keyring(): Promise<Keyring> {
    return checkedKeyring(this.db, this.#parts.env.SECRETS_KEYS);
  }

  /** Opens what is stored. @throws Damaged; Refusal keyring-unavailable */
  async open(sealed: string, place: string[]): Promise<string> {
    return openStored(this.db, await this.keyring(), sealed, place);
  }

  get mint(): TokenMint {
    return usable("TOKEN_KEYS", () => loadMint(this.#parts.env.TOKEN_KEYS));
  }
}

/** The ETag of a record in this version. */
export const entityTag = (version: number): string => `"v${version}"`;
