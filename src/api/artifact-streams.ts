import { CONTENT_SHA256_HEADER, SentPart } from "../protocol/artifact.ts";
import { openGranted, PathGrant } from "../services/artifact-downloads.ts";
import { PathPart, storePart } from "../services/artifact-uploads.ts";
import type { StreamRoute } from "../web/app-env.ts";
import { bytesAnswer, INERT_FILE } from "../web/artifact-bytes.ts";

/** The number of a `Content-Length`; null where the body is sent without one. */
export const lengthOf = (header: string | undefined): number | null =>
  /^\d{1,15}$/.test(header ?? "") ? Number(header) : null;

export const sendPart: StreamRoute = {
  access: { agent: true },
  params: PathPart,
  output: SentPart,
  async stream(c, context, { params }) {
    const sent = await storePart(context, {
      ...{ jobId: params.id, artifactId: params.artifactId, number: params.part },
      grant: context.headers.grant,
      bytes: lengthOf(c.req.header("Content-Length")),
      sha256: c.req.header(CONTENT_SHA256_HEADER) ?? null,
      body: c.req.raw.body,
    });
    return c.json(sent);
  },
};

export const downloadArtifact: StreamRoute = {
  access: { agent: true },
  params: PathGrant,
  async stream(c, context, { params }) {
    return bytesAnswer(c, await openGranted(context, params.grant), INERT_FILE);
  },
};
