import * as z from "zod/mini";
import { CONTENT_SHA256_HEADER, PartNumber, SentPart } from "../protocol/artifact.ts";
import { Id, PathId } from "../protocol/common.ts";
import { Job, LogAccepted, LogQuery, PollQuery } from "../protocol/jobs.ts";
import { LIMITS } from "../protocol/limits.ts";
import { ExportQuery, OrganizationRemoval } from "../protocol/organization.ts";
import { jsonMetrics, prometheusText } from "../services/agents/agents.ts";
import { appendLog } from "../services/builds/logs.ts";
import type { Context } from "../services/core/context.ts";
import { Refusal, settled } from "../services/core/refusal.ts";
import { connectToPool, waitForJob } from "../services/jobs/poll.ts";
import { exportOrganization as exportPage } from "../services/organizations/organization-export.ts";
import { removeOrganization } from "../services/organizations/organization-removal.ts";
import { PathOrg } from "../services/organizations/organizations.ts";
import { jsonServiceMetrics, servicePrometheusText } from "../services/organizations/service-metrics.ts";
import { takeFile } from "../services/repositories/pipeline-files.ts";
import { openGranted, PathGrant } from "../services/uploads/artifact-downloads.ts";
import { artifactUploads } from "../services/uploads/artifact-uploads.ts";
import { openCached } from "../services/uploads/cache-finds.ts";
import { cacheUploads } from "../services/uploads/cache-saves.ts";
import type { StreamRoute } from "../web/app-env.ts";
import { bytesAnswer, INERT_FILE } from "../web/artifact-bytes.ts";
import { decodeBody, readBytes } from "../web/body.ts";
import { linkToNext } from "../web/headers.ts";

/** Opens a WebSocket for hints. @throws Refusal if the pool rejects it */
const openHints = async (context: Context, agentId: string): Promise<Response> => {
  const response = await connectToPool(context, agentId, null);
  if (response.status === 101) return new Response(null, response);
  if (response.status === 401) return settled({ ok: false, refusal: { kind: "unauthenticated" } });
  throw new Refusal("conflict", "This agent has started elsewhere. Stop this program, or stop the other one.");
};

export const pollForJob: StreamRoute = {
  access: { agent: true },
  params: PathId,
  query: PollQuery,
  output: Job,
  async stream(c, context, { params, query }) {
    if (context.caller.kind !== "agent") await context.admit();
    if (c.req.header("Upgrade")?.toLowerCase() === "websocket") return openHints(context, params.id);
    const job = await waitForJob(context, params.id, query.wait, c.req.raw.signal);
    return job ? c.json(job) : c.body(null, 204);
  },
};

/** Returns metrics as JSON, or as Prometheus text for requests that prefer plain text or OpenMetrics. */
const metrics = (json: typeof jsonMetrics | typeof jsonServiceMetrics, text: (context: Context) => Promise<string>) =>
  ({
    access: json.access,
    output: json.output,
    async stream(c, context, input) {
      const wantsText = /text\/plain|openmetrics/.test(c.req.header("Accept") ?? "");
      if (!wantsText) return c.json(await json.run(context, input));
      return c.body(await text(context), 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
    },
  }) satisfies StreamRoute;

export const readMetrics: StreamRoute = metrics(jsonMetrics, prometheusText);
export const readServiceMetrics: StreamRoute = metrics(jsonServiceMetrics, servicePrometheusText);

export const writeLog: StreamRoute = {
  access: { agent: true },
  params: PathId,
  query: LogQuery,
  output: LogAccepted,
  async stream(c, context, { params, query }) {
    const bytes = await readBytes(c.req.raw, LIMITS.logChunkBytes);
    return c.json(await appendLog(context, params.id, { offset: query.offset, final: query.final === "true", bytes }));
  },
};

export const sendFile: StreamRoute = {
  access: { agent: true },
  params: PathId,
  async stream(c, context, { params }) {
    await takeFile(context, params.id, decodeBody(await readBytes(c.req.raw, LIMITS.definitionCharacters)));
    return c.body(null, 204);
  },
};

/** Seconds after which a client should repeat the call that deletes an organization. */
const REMOVAL_RETRY_SECONDS = { closing: 60, builds: 1, archive: 1, rows: 1 } as const;

export const exportOrganization: StreamRoute = {
  access: { operator: true, role: "admin" },
  params: PathOrg,
  query: ExportQuery,
  async stream(c, context, { params, query }) {
    const { text, nextCursor } = await exportPage(context, params.id, query);
    if (nextCursor !== null) c.header("Link", linkToNext(c.req.url, nextCursor));
    return c.body(text, 200, { "Content-Type": "application/jsonl", "Cache-Control": "no-store" });
  },
};

/** Answers 202 with the deletion's progress, or 204 when nothing is left. */
export const deleteOrganization: StreamRoute = {
  access: { operator: true },
  params: PathOrg,
  output: OrganizationRemoval,
  async stream(c, context, { params }) {
    await context.admit();
    const removal = await removeOrganization(context, c.env, params.id);
    if (!removal) return c.body(null, 204);
    return c.json(removal, 202, { "Retry-After": String(REMOVAL_RETRY_SECONDS[removal.step]) });
  },
};

/** Returns the number of a `Content-Length`; null for a body without one. */
const parseLength = (header: string | undefined): number | null =>
  /^\d{1,15}$/.test(header ?? "") ? Number(header) : null;

/** Stores a part of an upload. `place` names the path's parameter with the upload's id. */
const partRoute = (uploads: typeof artifactUploads | typeof cacheUploads, place: string): StreamRoute => ({
  access: { agent: true },
  params: z.object({ id: Id, [place]: Id, part: PartNumber }),
  output: SentPart,
  async stream(c, context, { params }) {
    const part = await uploads.store(context, {
      jobId: params.id,
      id: params[place],
      number: params.part,
      bytes: parseLength(c.req.header("Content-Length")),
      sha256: c.req.header(CONTENT_SHA256_HEADER) ?? null,
      body: c.req.raw.body,
    });
    return c.json(part);
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
