import { and, eq } from "drizzle-orm";
import * as z from "zod/mini";
import { build } from "../db/schema.ts";
import { Build, BuildFilter } from "../protocol/build.ts";
import { PathId } from "../protocol/common.ts";
import { DEFAULTS } from "../protocol/limits.ts";
import { actorOf, type Context } from "./core/context.ts";
import { listing, pageOf } from "./core/listing.ts";
import { notFound, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";

/** The build as the API answers it: with the address of its page, and with fields that older records lack. */
export const buildRecord = (context: Context, build: Build): Build => ({
  ...build,
  createdBy: build.createdBy ?? null,
  webUrl: `${context.origin}/app/builds/${build.id}`,
});

/** The build from its pool, or from D1 once the pool has dropped it. @throws Refusal not-found */
export const findBuild = async (context: Context, id: string): Promise<Build> => {
  const isThis = and(eq(build.orgId, context.orgId), eq(build.id, id));
  const [[row]] = await context.db.run(context.db.sql.select({ record: build.record }).from(build).where(isThis));
  const inPool = await (await context.pool()).getBuild(id);
  if (inPool.ok) return buildRecord(context, inPool.value);
  if (!row) throw notFound();
  return buildRecord(context, JSON.parse(row.record) as Build);
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
      repoId: (id) => eq(build.repoId, id),
      pipelineId: (id) => eq(build.pipelineId, id),
      branch: (branch) => eq(build.branch, branch),
      status: (status) => eq(build.status, status),
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
    return pageOf(rows, page, (row) => buildRecord(context, JSON.parse(row.record)));
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
    return buildRecord(context, settled(canceled));
  },
});
