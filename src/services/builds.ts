import { and, desc, eq } from "drizzle-orm";
import * as z from "zod";
import { build } from "../db/schema.ts";
import { Build, BuildFilter } from "../protocol/build.ts";
import { PathId } from "../protocol/common.ts";
import { actorOf } from "./agents.ts";
import type { Context } from "./context.ts";
import { before, pageOf, rowsFor } from "./paging.ts";
import { notFound, settled } from "./refusal.ts";
import { verb } from "./verb.ts";

const PAGE_LENGTH = 50;

/** The build as its owner knows it: the pool while it remembers it, D1 after that. @throws Refusal not-found */
export const findBuild = async (context: Context, id: string): Promise<Build> => {
  const mine = and(eq(build.orgId, context.orgId), eq(build.id, id));
  const [[row]] = await context.db.run(context.db.sql.select({ record: build.record }).from(build).where(mine));
  const live = await (await context.pool()).getBuild(id);
  if (live.ok) return live.value;
  if (!row) throw notFound();
  return JSON.parse(row.record) as Build;
};

export const getBuild = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Build,
  run: (context, { params }) => findBuild(context, params.id),
});

export const listBuilds = verb({
  access: { role: "viewer" },
  query: BuildFilter,
  output: z.array(Build),
  async run(context, { query }) {
    const { db, orgId } = context;
    const page = { limit: PAGE_LENGTH, ...query };
    const wanted = and(
      eq(build.orgId, orgId),
      query.repoId ? eq(build.repoId, query.repoId) : undefined,
      query.pipelineId ? eq(build.pipelineId, query.pipelineId) : undefined,
      query.branch ? eq(build.branch, query.branch) : undefined,
      query.status ? eq(build.status, query.status) : undefined,
      before(build.id, page),
    );
    const all = db.sql.select({ id: build.id, record: build.record }).from(build).where(wanted);
    const [rows] = await db.run(all.orderBy(desc(build.id)).limit(rowsFor(page)));
    return pageOf(context, rows, page).map((row) => JSON.parse(row.record) as Build);
  },
});

export const cancelBuild = verb({
  access: { role: "member" },
  params: PathId,
  output: Build,
  async run(context, { params }) {
    const pool = await context.pool();
    const canceled = await pool.cancel({ buildId: params.id, actor: actorOf(context) });
    if (!canceled.ok && canceled.refusal.kind === "not-found") await findBuild(context, params.id);
    return settled(canceled);
  },
});
