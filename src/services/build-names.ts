import { and, eq, inArray } from "drizzle-orm";
import { buildList, pipeline, repository } from "../db/schema.ts";
import type { Context } from "./core/context.ts";

/** One query of D1 takes a hundred values. */
const MOST = 90;

/** `#84 acme/shop / ci` by the id of the build. One that D1 does not have, yet or any more, is left out. */
export const buildNames = async (context: Context, ids: string[]): Promise<Map<string, string>> => {
  const wanted = [...new Set(ids)].slice(0, MOST);
  if (wanted.length === 0) return new Map();
  await context.admit();
  const { db, orgId } = context;
  const [rows] = await db.run(
    db.sql
      .select({ id: buildList.id, number: buildList.number, repository: repository.fullName, pipeline: pipeline.name })
      .from(buildList)
      .leftJoin(repository, and(eq(repository.id, buildList.repoId), eq(repository.orgId, orgId)))
      .leftJoin(pipeline, and(eq(pipeline.id, buildList.pipelineId), eq(pipeline.orgId, orgId)))
      .where(and(eq(buildList.orgId, orgId), inArray(buildList.id, wanted))),
  );
  return new Map(
    rows.map(({ id, number, ...owners }) => [
      id,
      `#${number} ${[owners.repository ?? "removed repository", owners.pipeline].filter(Boolean).join(" / ")}`,
    ]),
  );
};
