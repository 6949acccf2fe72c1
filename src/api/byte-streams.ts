import * as z from "zod/mini";
import { CONTENT_SHA256_HEADER, PartNumber, SentPart } from "../protocol/artifact.ts";
import { Id } from "../protocol/common.ts";
import { openGranted, PathGrant } from "../services/uploads/artifact-downloads.ts";
import { artifactUploads } from "../services/uploads/artifact-uploads.ts";
import { openCached } from "../services/uploads/cache-finds.ts";
import { cacheUploads } from "../services/uploads/cache-saves.ts";
import type { StreamRoute } from "../web/app-env.ts";
import { bytesAnswer, INERT_FILE } from "../web/artifact-bytes.ts";

/** The number of a `Content-Length`; null where the body is sent without one. */
const lengthOf = (header: string | undefined): number | null =>
  /^\d{1,15}$/.test(header ?? "") ? Number(header) : null;

/** Takes a part of what has its id at this place of the path. */
const partRoute = (uploads: typeof artifactUploads | typeof cacheUploads, place: string): StreamRoute => ({
  access: { agent: true },
  params: z.object({ id: Id, [place]: Id, part: PartNumber }),
  output: SentPart,
  async stream(c, context, { params }) {
    const sent = await uploads.store(context, {
      ...{ jobId: params.id, id: params[place], number: params.part },
      bytes: lengthOf(c.req.header("Content-Length")),
      sha256: c.req.header(CONTENT_SHA256_HEADER) ?? null,
      body: c.req.raw.body,
    });
    return c.json(sent);
  },
});

export const sendPart = partRoute(artifactUploads, "artifactId");
export const sendCachePart = partRoute(cacheUploads, "cacheId");

const contentRoute = (open: typeof openGranted): StreamRoute => ({
  access: { agent: true },
  params: PathGrant,
  async stream(c, context, { params }) {
    return bytesAnswer(c, await open(context, params.grant), INERT_FILE);
  },
});

export const downloadArtifact = contentRoute(openGranted);
export const downloadCache = contentRoute(openCached);
