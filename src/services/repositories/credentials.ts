import { and, eq, sql } from "drizzle-orm";
import { ensure, ensureUnchanged } from "../../db/guard.ts";
import { credential, repository } from "../../db/schema.ts";
import { credentialContext } from "../../domain/seal-context.ts";
import { sshKeyProblem } from "../../domain/ssh-key.ts";
import { PathId } from "../../protocol/common.ts";
import { Credential, NewCredential } from "../../protocol/repository.ts";
import { commit } from "../core/commit.ts";
import type { Context } from "../core/context.ts";
import { isOwn } from "../core/record.ts";
import { invalid, notFound } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";

type CredentialRow = typeof credential.$inferSelect;

const find = async (context: Context, repoId: string) => {
  const { sql: db } = context.db;
  const [[owner], [row]] = await context.db.run(
    db
      .select()
      .from(repository)
      .where(isOwn(context, repository, repoId)),
    db
      .select()
      .from(credential)
      .where(and(eq(credential.orgId, context.orgId), eq(credential.repoId, repoId))),
  );
  if (!owner) throw notFound();
  return { owner, row };
};

/**
 * Returns a condition that holds while the stored credential is the credential that the caller read. `undefined` stands
 * for no credential.
 */
const isUnchanged = (repoId: string, row: CredentialRow | undefined) =>
  row
    ? sql`EXISTS (SELECT 1 FROM credential WHERE repo_id = ${repoId} AND version = ${row.version})`
    : sql`NOT EXISTS (SELECT 1 FROM credential WHERE repo_id = ${repoId})`;

/** Gives the repository's record a new version, because the record has `hasCredential`. */
const touchRepository = (context: Context, repoId: string) =>
  context.db.sql
    .update(repository)
    .set({ version: sql`${repository.version} + 1`, updatedAt: context.at })
    .where(isOwn(context, repository, repoId));

/**
 * Sets or replaces the credential with which agents fetch a private repository. No answer returns the credential's
 * value.
 */
export const setCredential = verb({
  access: { role: "maintainer" },
  params: PathId,
  body: NewCredential,
  output: Credential,
  async run(context, { params, body }) {
    const { owner, row: before } = await find(context, params.id);
    const { kind, value } = body;
    const username = body.username ?? null;
    const isSsh = !/^https?:/i.test(owner.cloneUrl);
    if (isSsh !== (kind === "ssh-key")) throw invalid("/kind", "does not match the repository's clone address");
    const problem = isSsh && sshKeyProblem(value);
    if (problem) throw invalid("/value", problem);
    const version = Math.max((before?.version ?? 0) + 1, context.now.getTime());
    const { orgId, at } = context;
    const place = { orgId, repoId: owner.id, kind, version };
    const sealed = await context.keys.seal(value, credentialContext(place, owner.cloneUrl));
    const row: CredentialRow = { ...place, username, sealed, updatedAt: at };
    const db = context.db.sql;
    await commit(context, { action: "credential.set", subject: owner.id, detail: { kind, username } }, [
      ensureUnchanged(db, repository, owner),
      touchRepository(context, owner.id),
      ensure(db, "unchanged", isUnchanged(owner.id, before)),
      db.insert(credential).values(row).onConflictDoUpdate({ target: credential.repoId, set: row }),
    ]);
    return { kind, username, updatedAt: at };
  },
});

export const deleteCredential = verb({
  access: { role: "maintainer" },
  params: PathId,
  async run(context, { params }) {
    const { row } = await find(context, params.id);
    if (!row) throw notFound();
    await commit(context, { action: "credential.delete", subject: row.repoId, detail: { kind: row.kind } }, [
      ensure(context.db.sql, "unchanged", isUnchanged(row.repoId, row)),
      touchRepository(context, row.repoId),
      context.db.sql.delete(credential).where(eq(credential.repoId, row.repoId)),
    ]);
  },
});
