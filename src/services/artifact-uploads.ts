import * as z from "zod/mini";
import { artifactKey, deleteArtifact, putFileList } from "../archive/artifacts.ts";
import { abortParts, beginParts, findBytes, joinParts, putPart } from "../archive/bytes.ts";
import { dayOf } from "../archive/keys.ts";
import { sha256Hex } from "../crypto/digest.ts";
import { listProblem } from "../domain/artifact/file-list.ts";
import { partSize, partsOf } from "../domain/artifact/parts.ts";
import type { ArtifactFacts } from "../domain/pool/artifact-facts.ts";
import {
  Artifact,
  ArtifactEnd,
  ArtifactOpening,
  CONTENT_SHA256_HEADER,
  OpenedArtifact,
  PartNumber,
} from "../protocol/artifact.ts";
import { Id, PathId } from "../protocol/common.ts";
import { DEFAULTS, LIMITS, PERIODS } from "../protocol/limits.ts";
import { ownerOf, toArtifact } from "./artifact-records.ts";
import type { Context } from "./core/context.ts";
import type { GrantFacts } from "./core/grants.ts";
import { reaching } from "./core/outage.ts";
import { readGrant } from "./core/read-grant.ts";
import { invalid, Refusal, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";
import { type Holder, holderOf } from "./jobs.ts";

const DAY_MS = 86_400_000;
const GRANT_MS = PERIODS.grantMinutes * 60_000;

type Sent = GrantFacts["upload"];

/** What R2 says where the fault is in what was sent: parts that do not fit, an upload that is over, a wrong sum. */
const R2_REFUSALS = /\((?:10011|10024|10025|10037|10048)\)/;

export const isRefusedByArchive = (error: unknown): boolean =>
  error instanceof Error && R2_REFUSALS.test(error.message);

/** The day until whose end it is kept: never longer than its build, which names it. */
const lastDay = ({ now, config }: Context, keepDays: number = DEFAULTS.artifactDays): string =>
  dayOf(now.getTime() + Math.min(keepDays, config.BUILD_DAYS) * DAY_MS);

/** Begins the upload in parts, once: of two calls at the same time one upload counts. */
const withUpload = async (context: Context, holder: Holder, opened: ArtifactFacts): Promise<ArtifactFacts> => {
  if (partsOf(opened.bytes) < 2 || opened.uploadId !== undefined) return opened;
  const key = artifactKey(ownerOf(context.orgId, holder.jobId, opened));
  const uploadId = await reaching(beginParts(context.archive, key));
  const pool = context.objects.pool(context.orgId);
  const begun = settled(await pool.openArtifact({ ...holder, ...opened, uploadId }));
  if (begun.uploadId !== uploadId) context.waitUntil(abortParts(context.archive, key, uploadId));
  return begun;
};

/** Begins to send what a job leaves, or goes on with it. */
export const openArtifact = verb({
  access: { agent: true },
  params: PathId,
  body: ArtifactOpening,
  output: OpenedArtifact,
  async run(context, { params, body }) {
    const holder = await holderOf(context, params.id);
    const { name, as, bytes, files } = body;
    if (as === "tar" && files !== 1) throw invalid("/files", "must be 1 for a tar");
    const wanted = { id: context.newId(), name, as, bytes, files, day: lastDay(context, body.keepDays) };
    const pool = context.objects.pool(context.orgId);
    const opened = await withUpload(context, holder, settled(await pool.openArtifact({ ...holder, ...wanted })));
    const { id, fence, day, uploadId } = opened;
    const until = context.now.getTime() + GRANT_MS;
    const { orgId, keys } = context;
    const facts = { orgId, jobId: params.id, fence, id, day, bytes, files, uploadId, until };
    return {
      artifactId: id,
      grant: await keys.grants.grant("upload", { ...facts, tokenHash: holder.tokenHash }),
      expiresAt: new Date(until).toISOString(),
      partBytes: LIMITS.artifactPartBytes,
      parts: partsOf(bytes),
    };
  },
});

export const PathPart = z.object({ id: Id, artifactId: Id, part: PartNumber });

export interface Part {
  jobId: string;
  artifactId: string;
  number: number;
  grant: string | null;
  /** As the headers say; null where they do not. */
  bytes: number | null;
  sha256: string | null;
  body: ReadableStream<Uint8Array> | null;
}

/** A part that may be stored, of so many bytes in all. @throws Refusal invalid, malformed-body */
export const checkedPart = (part: Part, allBytes: number) => {
  const size = partSize(allBytes, part.number);
  if (size === null) throw invalid("/part", "must be the number of a part, from 1");
  const { sha256, body, number } = part;
  if (part.bytes !== size || body === null)
    throw new Refusal("malformed-body", `This part has exactly ${size} bytes: send them with Content-Length.`);
  if (sha256 === null || !/^[0-9a-f]{64}$/.test(sha256))
    throw invalid(CONTENT_SHA256_HEADER, "this header must be the SHA-256 of the part, in 64 hex digits");
  return { sha256, body, number };
};

/** Stores one part. Asks no pool: whether the lease stands is asked at the end. @returns its etag */
export const storePart = async (context: Context, part: Part): Promise<{ etag: string }> => {
  const facts = await readGrant(context, "upload", part.grant, { jobId: part.jobId, id: part.artifactId });
  const { uploadId } = facts;
  const stored = putPart(context.archive, { key: artifactKey(facts), uploadId }, checkedPart(part, facts.bytes));
  const etag = await stored.catch((error: unknown) => {
    if (!isRefusedByArchive(error)) return reaching(Promise.reject(error));
    if (!uploadId) throw invalid(CONTENT_SHA256_HEADER, "is not that of the bytes that arrived");
    throw new Refusal("conflict", "This upload is over: open the artifact again.");
  });
  if (etag === null) throw new Refusal("conflict", "Other bytes were sent under this grant before.");
  return { etag };
};

/** @throws Refusal invalid where the list is not one of the files of this artifact */
const checkList = ({ list }: ArtifactEnd, { bytes, files }: Sent): void => {
  const found = listProblem(list, { bytes, files });
  if (found) throw invalid(found.index === null ? "/list" : `/list/${found.index}/path`, found.problem);
};

/** Makes one object of the parts, unless that is done. @throws Refusal conflict where they do not fit each other */
const completed = async (context: Context, facts: Sent, { etags, md5 }: ArtifactEnd): Promise<void> => {
  const { uploadId, bytes } = facts;
  if (!uploadId) return;
  if (etags.length !== partsOf(bytes)) throw invalid("/etags", `must have ${partsOf(bytes)} entries`);
  if (md5 === undefined) throw invalid("/md5", "is missing: there are several parts");
  try {
    await joinParts(context.archive, artifactKey(facts), uploadId, etags);
  } catch (error) {
    if (await reaching(findBytes(context.archive, artifactKey(facts)))) return;
    if (!isRefusedByArchive(error)) await reaching(Promise.reject(error));
    throw new Refusal("conflict", "A part is missing, or its etag is not the last one that was answered for it.");
  }
};

/** Whether the archive has the bytes that the agent means. @throws Refusal conflict where it has none */
const isWhole = async (context: Context, facts: Sent, { list, md5 }: ArtifactEnd): Promise<boolean> => {
  if (facts.bytes === 0) return true;
  const found = await reaching(findBytes(context.archive, artifactKey(facts)));
  if (!found) throw new Refusal("conflict", "The bytes have not arrived.");
  const isAsSent = !facts.uploadId || found.etag === `${md5}-${partsOf(facts.bytes)}`;
  const isAsListed = found.sha256 === null || list.length > 1 || list[0]?.sha256 === found.sha256;
  return found.size === facts.bytes && isAsSent && isAsListed;
};

/** Forgets bytes that are others than the agent meant, so that it can send them again. @throws Refusal invalid */
const refuseBytes = async (context: Context, holder: Holder, facts: Sent): Promise<never> => {
  const pool = context.objects.pool(context.orgId);
  const isDropped = settled(await pool.discardArtifact({ ...holder, artifactId: facts.id }));
  if (isDropped) await reaching(deleteArtifact(context.archive, facts));
  throw invalid("/list", "does not fit the bytes that arrived: open the artifact again");
};

/** All is sent: the artifact is the job's, should it end under this lease. May be repeated. */
export const finishArtifact = verb({
  access: { agent: true },
  params: z.object({ id: Id, artifactId: Id }),
  body: ArtifactEnd,
  bodyBytes: LIMITS.artifactListBytes,
  output: Artifact,
  async run(context, { params, body }) {
    const holder = await holderOf(context, params.id);
    const facts = await readGrant(context, "upload", context.headers.grant, {
      jobId: params.id,
      id: params.artifactId,
    });
    if (facts.fence !== holder.fence) throw new Refusal("forbidden", "The grant is of another lease.");
    checkList(body, facts);
    await completed(context, facts, body);
    if (!(await isWhole(context, facts, body))) await refuseBytes(context, holder, facts);
    const sum = await sha256Hex(JSON.stringify(body.list));
    if (!(await reaching(putFileList(context.archive, facts, body.list, sum))))
      throw new Refusal("conflict", "Another list was sent for this artifact before.");
    const pool = context.objects.pool(context.orgId);
    return toArtifact(params.id, settled(await pool.keepArtifact({ ...holder, artifactId: facts.id })));
  },
});
