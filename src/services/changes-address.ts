import { eq } from "drizzle-orm";
import { connection, repository } from "../db/schema.ts";
import { commitAddress, compareAddress } from "../domain/comparison/host-address.ts";
import { findRecord } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { isOwn } from "./core/record.ts";
import { notFound } from "./core/refusal.ts";

/** The git host's page of what a build's commit changes: of a pull request all of it. @throws Refusal not-found, also where no host is known */
export const changesAddress = async (context: Context, id: string): Promise<string> => {
  const { repoId, base, pull, commitSha } = await findRecord(context, id);
  const { kind, webUrl } = connection;
  const [[host]] = await context.db.run(
    context.db.sql
      .select({ kind, webUrl, fullName: repository.fullName })
      .from(repository)
      .innerJoin(connection, eq(connection.id, repository.connectionId))
      .where(isOwn(context, repository, repoId)),
  );
  if (!host || commitSha === null) throw notFound();
  const from = base ?? pull?.base ?? null;
  return from === null
    ? commitAddress(host.kind, host.webUrl, host.fullName, commitSha)
    : compareAddress(host.kind, host.webUrl, host.fullName, from, commitSha);
};
