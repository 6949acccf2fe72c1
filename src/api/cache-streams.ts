import * as z from "zod/mini";
import { CONTENT_SHA256_HEADER, PartNumber, SentPart } from "../protocol/artifact.ts";
import { Id } from "../protocol/common.ts";
import { openCached, PathCacheGrant } from "../services/cache-finds.ts";
import { storeCachePart } from "../services/cache-saves.ts";
import type { StreamRoute } from "../web/app-env.ts";
import { bytesAnswer, INERT_FILE } from "../web/artifact-bytes.ts";
import { lengthOf } from "./artifact-streams.ts";

const PathCachePart = z.object({ id: Id, cacheId: Id, part: PartNumber });

export const sendCachePart: StreamRoute = {
  access: { agent: true },
  params: PathCachePart,
  output: SentPart,
  async stream(c, context, { params }) {
    const sent = await storeCachePart(context, {
      ...{ jobId: params.id, artifactId: params.cacheId, number: params.part },
      grant: context.headers.grant,
      bytes: lengthOf(c.req.header("Content-Length")),
      sha256: c.req.header(CONTENT_SHA256_HEADER) ?? null,
      body: c.req.raw.body,
    });
    return c.json(sent);
  },
};

export const downloadCache: StreamRoute = {
  access: { agent: true },
  params: PathCacheGrant,
  async stream(c, context, { params }) {
    return bytesAnswer(c, await openCached(context, params.grant), INERT_FILE);
  },
};
