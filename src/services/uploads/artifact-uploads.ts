import * as z from "zod/mini";
import { artifactKey, deleteArtifact, putFileList } from "../../archive/artifacts.ts";
import { abortParts } from "../../archive/bytes.ts";
import { dayOf } from "../../archive/keys.ts";
import { sha256Hex } from "../../crypto/encoding.ts";
import { listProblem } from "../../domain/artifact/file-list.ts";
import {
  Artifact,
  ArtifactEnd,
  ArtifactOpening,
  CONTENT_SHA256_HEADER,
  OpenedArtifact,
} from "../../protocol/artifact.ts";
import { Id, PathId } from "../../protocol/common.ts";
import { DEFAULTS, LIMITS } from "../../protocol/limits.ts";
import { DAY_MS } from "../../protocol/units.ts";
import type { ArtifactFacts } from "../../queue/state/facts.ts";
import type { Context } from "../core/context.ts";
import type { GrantFacts } from "../core/grants.ts";
import { reaching } from "../core/outage.ts";
import { invalid, Refusal, settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { type Holder, readHolder } from "../jobs/jobs.ts";
import { toArtifact, toOwner } from "./artifact-records.ts";
import { beginUpload, Uploads } from "./uploads.ts";

type Facts = GrantFacts["upload"];

export const artifactUploads = new Uploads({
  granted: "upload",
  keyOf: artifactKey,
  partRefused: (isOnly) =>
    isOnly
      ? invalid(CONTENT_SHA256_HEADER, "does not match the received bytes")
      : new Refusal("conflict", "The upload has ended: open the artifact again."),
  joinRefused: "A part is missing, or its etag is not the latest one.",
});

/**
 * Returns the last day on which the service keeps the artifact. It is never later than the build's last day, because
 * the build names the artifact.
 */
const lastDay = ({ now, config }: Context, keepDays: number = DEFAULTS.artifactDays): string =>
  dayOf(now.getTime() + Math.min(keepDays, config.BUILD_DAYS) * DAY_MS);

/** Begins the upload in parts, once. If two calls begin it at the same time, one upload counts. */
const withUpload = async (context: Context, holder: Holder, opened: ArtifactFacts): Promise<ArtifactFacts> => {
  if (opened.uploadId !== undefined) return opened;
  const key = artifactKey(toOwner(context.orgId, holder.jobId, opened));
  const uploadId = await beginUpload(context, key, opened.bytes);
  if (uploadId === undefined) return opened;
  const pool = context.objects.pool(context.orgId);
  const begun = settled(await pool.openArtifact({ ...holder, ...opened, uploadId }));
  if (begun.uploadId !== uploadId) context.waitUntil(abortParts(context.archive, key, uploadId));
  return begun;
};

/** Begins the upload of a job's artifact, or continues it. */
export const openArtifact = verb({
  access: { agent: true },
  params: PathId,
  body: ArtifactOpening,
  output: OpenedArtifact,
  async run(context, { params, body }) {
    const holder = await readHolder(context, params.id);
    const { name, as, bytes, files } = body;
    if (as === "tar" && files !== 1) throw invalid("/files", "must be 1 for a tar");
    const upload = { id: context.newId(), name, as, bytes, files, day: lastDay(context, body.keepDays) };
    const pool = context.objects.pool(context.orgId);
    const opened = await withUpload(context, holder, settled(await pool.openArtifact({ ...holder, ...upload })));
    const { id, fence, day, uploadId } = opened;
    const { orgId } = context;
    const { tokenHash } = holder;
    const facts = { orgId, jobId: params.id, fence, id, day, bytes, files, uploadId, tokenHash };
    return { artifactId: id, ...(await artifactUploads.grant(context, facts)) };
  },
});

/** Checks the list. @throws Refusal invalid if it does not match this artifact's files */
const checkList = ({ list }: ArtifactEnd, { bytes, files }: Facts): void => {
  const problem = listProblem(list, { bytes, files });
  if (problem) throw invalid(problem.index === null ? "/list" : `/list/${problem.index}/path`, problem.problem);
};

/** Drops bytes that differ from the agent's list, so that the agent can send them again. @throws Refusal invalid */
const refuseBytes = async (context: Context, holder: Holder, facts: Facts): Promise<never> => {
  const pool = context.objects.pool(context.orgId);
  const isDropped = settled(await pool.discardArtifact({ ...holder, artifactId: facts.id }));
  if (isDropped) await reaching(deleteArtifact(context.archive, facts));
  throw invalid("/list", "does not match the received bytes: open the artifact again");
};

/**
 * Completes the upload. The artifact then belongs to the job, provided that the job ends under this lease. An agent can
 * repeat the call.
 */
export const finishArtifact = verb({
  access: { agent: true },
  params: z.object({ id: Id, artifactId: Id }),
  body: ArtifactEnd,
  bodyBytes: LIMITS.artifactListBytes,
  output: Artifact,
  async run(context, { params, body }) {
    const { holder, facts } = await artifactUploads.ending(context, { jobId: params.id, id: params.artifactId });
    checkList(body, facts);
    const sha256 = body.list.length === 1 ? body.list[0]!.sha256 : null;
    if (!(await artifactUploads.isWhole(context, facts, { ...body, sha256 })))
      await refuseBytes(context, holder, facts);
    const sum = await sha256Hex(JSON.stringify(body.list));
    if (!(await reaching(putFileList(context.archive, facts, body.list, sum))))
      throw new Refusal("conflict", "A different list was already sent for this artifact.");
    const pool = context.objects.pool(context.orgId);
    return toArtifact(params.id, settled(await pool.keepArtifact({ ...holder, artifactId: facts.id })));
  },
});
