import { and, eq } from "drizzle-orm";
import * as z from "zod/mini";
import { build } from "../db/schema.ts";
import { Build, BuildFilter } from "../protocol/build.ts";
import { PathId } from "../protocol/common.ts";
import { DEFAULTS } from "../protocol/limits.ts";
import { actorOf } from "./agents.ts";
import type { Context } from "./core/context.ts";
import { listing } from "./core/listing.ts";
import { pageOf } from "./core/paging.ts";
import { notFound, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";

/** The build as it is answered: what builds of before do not know is empty, and it has the address of its page. */
export const answered = (context: Context, build: Build): Build => ({
  ...{ ...build, createdBy: build.createdBy ?? null },
  webUrl: `${context.origin}/app/builds/${build.id}`,
});

/** The build as its owner knows it: the pool while it remembers it, D1 after that. @throws Refusal not-found */
export const findBuild = async (context: Context, id: string): Promise<Build> => {
  const mine = and(eq(build.orgId, context.orgId), eq(build.id, id));
  const [[row]] = await context.db.run(context.db.sql.select({ record: build.record }).from(build).where(mine));
  const live = await (await context.pool()).getBuild(id);
  if (live.ok) return answered(context, live.value);
  if (!row) throw notFound();
  return answered(context, JSON.parse(row.record) as Build);
};

export const getBuild = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Build,
  run: (context, { params }) => findBuild(context, params.id),
});

const builds = listing(
  build,
  { id: build.id, record: build.record },
  {
    filters: {
      ...{ repoId: (id) => eq(build.repoId, id), pipelineId: (id) => eq(build.pipelineId, id) },
      ...{ branch: (branch) => eq(build.branch, branch), status: (status) => eq(build.status, status) },
    },
    newestFirst: true,
  },
);

export const listBuilds = verb({
  access: { role: "viewer" },
  query: BuildFilter,
  output: z.array(Build),
  async run(context, { query }) {
    const page = { limit: DEFAULTS.newestPageLength, ...query };
    const [rows] = await context.db.run(builds(context, page));
    return pageOf(context, rows, page).map((row) => answered(context, JSON.parse(row.record)));
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
    return answered(context, settled(canceled));
  },
});
