import * as z from "zod/mini";
import { artifactKey } from "../../archive/artifacts.ts";
import type { Matrix } from "../../pipeline/graph/graph.ts";
import {
  ArtifactFile,
  ArtifactGrant,
  DownloadRequest,
  Downloads,
  type StoredArtifact,
} from "../../protocol/artifact.ts";
import { PathId } from "../../protocol/common.ts";
import { PERIODS } from "../../protocol/limits.ts";
import { MINUTE_MS } from "../../protocol/units.ts";
import { findRecord } from "../builds/builds.ts";
import type { Context } from "../core/context.ts";
import { invalid, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { readHolder } from "../jobs/jobs.ts";
import { artifactGone, readable, readFiles } from "./artifact-records.ts";
import { leftByBuild } from "./artifacts.ts";
import { readGrant } from "./uploads.ts";

const GRANT_MS = PERIODS.grantMinutes * MINUTE_MS;

/** A job that the agent requested, with its artifacts. */
interface Source {
  jobId: string;
  matrix: Matrix | null;
  artifacts: StoredArtifact[];
}

type Needed = Extract<
  Awaited<ReturnType<ReturnType<Context["objects"]["pool"]>["neededArtifacts"]>>,
  { ok: true }
>["value"]["needed"][number];

/** Returns a needed job's artifacts. For an adopted result, returns the artifacts of the earlier build's job. */
const findSource = async (context: Context, { jobId, matrix, adopted, artifacts }: Needed): Promise<Source> => {
  if (!adopted) return { jobId, matrix, artifacts };
  const byJob = await leftByBuild(context, await findRecord(context, adopted.buildId));
  return { jobId: adopted.jobId, matrix, artifacts: byJob[adopted.jobId] ?? [] };
};

/** Grants access to the artifacts of the jobs that the calling job needs, and of no other job. */
export const requestDownloads = verb({
  access: { agent: true },
  params: PathId,
  body: DownloadRequest,
  output: Downloads,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    const { orgId, keys, now } = context;
    const { needed, others } = settled(await context.objects.pool(orgId).neededArtifacts(holder));
    const until = now.getTime() + GRANT_MS;
    const grant = ({ jobId }: Source, { id, fence, day, bytes }: StoredArtifact) =>
      keys.grants.grant("download", {
        orgId,
        jobId,
        fence,
        id,
        day,
        bytes,
        until,
        tokenHash: holder.tokenHash,
      });
    const artifacts: z.infer<typeof Downloads>["artifacts"] = [];
    for (const [index, { from, artifact }] of body.downloads.entries()) {
      const jobs = needed.filter(({ definition, key }) => definition === from || key === from);
      if (jobs.length === 0) {
        const isOther = others.includes(from);
        const why = isOther ? "names a job that this one does not need" : "does not name a job in this build";
        throw invalid(`/downloads/${index}/from`, why);
      }
      const sources = await Promise.all(jobs.map((one) => findSource(context, one)));
      const matches = sources.flatMap((source) =>
        source.artifacts
          .filter(({ name }) => artifact === undefined || name === artifact)
          .map((stored) => ({ source, stored })),
      );
      if (artifact !== undefined && matches.length === 0)
        throw invalid(`/downloads/${index}/artifact`, "does not name an artifact of this job");
      for (const { source, stored } of matches) {
        const { name, as, bytes, files } = stored;
        const { jobId, matrix } = source;
        artifacts.push({ from, matrix, jobId, name, as, bytes, files, grant: await grant(source, stored) });
      }
    }
    return { artifacts };
  },
});

export const PathGrant = z.object({ grant: ArtifactGrant });

export const listGrantedFiles = verb({
  access: { agent: true },
  params: PathGrant,
  output: z.array(ArtifactFile),
  async run(context, { params }) {
    return readFiles(context.archive, await readGrant(context, "download", params.grant));
  },
});

/** Returns the bytes of a granted artifact. @throws Refusal forbidden; gone */
export const openGranted = async (context: Context, grant: string) => {
  const facts = await readGrant(context, "download", grant);
  return readable(context.archive, artifactKey(facts), facts.bytes, artifactGone);
};
