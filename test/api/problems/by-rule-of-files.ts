import { env } from "cloudflare:workers";
import { call } from "../../support/api.ts";
import { packed } from "../../support/artifact-files.ts";
import { endArtifact, openArtifact, sendArtifact, sendPart } from "../../support/artifacts.ts";
import { endCache, findCache, openCache, saveCache, sendCachePart } from "../../support/cache.ts";
import { callWithLease, startNextJob } from "../../support/jobs.ts";
import { contentPath, newPlannedBuild, newStartedBuild } from "../../support/new-builds.ts";
import { testReport } from "../../support/tests.ts";
import { asAgent, limited, nothing, type Provoke, start, withoutLease } from "./provocations.ts";

const FILES = { "a.txt": "one" };
const { list: LIST, bytes: BYTES } = packed(FILES);
const OTHER_BYTES = BYTES.map((byte) => byte ^ 1);
const SHA256 = "0".repeat(64);
const OPENING = { name: "app", as: "files", bytes: BYTES.length, files: 1 };
const CACHE_OPENING = { key: "npm-1", bytes: 3, sha256: SHA256, codec: "gzip" };
const QUERY = { entries: [], codecs: ["gzip"] };
const DOWNLOADS = { downloads: [{ from: "a" }] };

/** Deletes all the organization's objects in R2. */
const emptyArchive = async (orgId: string): Promise<void> => {
  const { objects } = await env.ARCHIVE.list();
  const keys = objects.map(({ key }) => key).filter((key) => key.includes(orgId));
  if (keys.length === 0) throw new Error("There was nothing in the archive.");
  await env.ARCHIVE.delete(keys);
};

type Running = Awaited<ReturnType<typeof newStartedBuild>>;

const succeed = ({ agent, job }: Running) =>
  callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });

/** Acts on a running job that has begun an artifact. */
const ofArtifact =
  (act: (at: Running, opened: { artifactId: string; grant: string }) => ReturnType<Provoke>): Provoke =>
  async () => {
    const at = await newStartedBuild();
    return act(at, (await openArtifact(at.agent, at.job, "app", FILES)).body);
  };

/** Acts on a job that left an artifact and test results, after R2 lost their bytes. */
const ofLost =
  (act: (at: Running) => ReturnType<Provoke>): Provoke =>
  async () => {
    const at = await newStartedBuild();
    await sendArtifact(at.agent, at.job, "app", FILES);
    await callWithLease(at.agent, at.job, "PUT", "tests", testReport([]));
    await succeed(at);
    await emptyArchive(at.orgId);
    return act(at);
  };

/** Acts on a job that may download an earlier job's artifact, after R2 lost it. */
const ofLostDownload =
  (rest: string): Provoke =>
  async () => {
    const file = "jobs: { a: { steps: [{ run: make }] }, b: { needs: [a], steps: [{ run: make }] } }";
    const { agent, orgId } = await newPlannedBuild(file);
    const first = await startNextJob(agent);
    await sendArtifact(agent, first, "app", FILES);
    await callWithLease(agent, first, "POST", "finish", { status: "succeeded", exitCode: 0 });
    const { body } = await callWithLease(agent, await startNextJob(agent), "POST", "download", DOWNLOADS);
    await emptyArchive(orgId);
    return call(agent.token, "GET", `/artifact/${body.artifacts[0].grant}/${rest}`);
  };

/** Acts on a running job that has begun to save a cache entry. */
const ofCache =
  (act: (at: Running, opened: { cacheId: string; grant: string }) => ReturnType<Provoke>): Provoke =>
  async () => {
    const at = await newStartedBuild();
    return act(at, (await openCache(at.agent, at.job, "npm-1", BYTES)).body);
  };

/** Requests about artifacts, test reports and caches that raise a problem by an operation's own rules. */
export const BY_RULE_OF_FILES: Record<string, Provoke> = {
  "openArtifact lease-lost": withoutLease("artifact", OPENING, "POST", "/job"),
  "openArtifact conflict": asAgent("artifact", OPENING, nothing, "POST", "/job"),
  "openArtifact limit-reached": limited("artifacts", asAgent("artifact", OPENING, start, "POST", "/job")),
  "sendPart malformed-body": ofArtifact(({ agent, job }, opened) =>
    sendPart(agent, job, opened, 1, new Uint8Array(BYTES.length + 1)),
  ),
  "sendPart conflict": ofArtifact(async ({ agent, job }, opened) => {
    await sendPart(agent, job, opened, 1, BYTES);
    return sendPart(agent, job, opened, 1, OTHER_BYTES);
  }),
  "finishArtifact lease-lost": ofArtifact(async (at, opened) => {
    const { body } = await sendPart(at.agent, at.job, opened, 1, BYTES);
    await succeed(at);
    return endArtifact(at.agent, at.job, opened, { list: LIST, etags: [body.etag] });
  }),
  "finishArtifact conflict": ofArtifact(({ agent, job }, opened) =>
    endArtifact(agent, job, opened, { list: LIST, etags: [] }),
  ),
  "requestDownloads lease-lost": withoutLease("download", DOWNLOADS, "POST", "/job"),
  "requestDownloads conflict": asAgent("download", DOWNLOADS, nothing, "POST", "/job"),
  "listGrantedFiles gone": ofLostDownload("list"),
  "downloadArtifact gone": ofLostDownload("content"),
  "getArtifact gone": ofLost(({ admin, id }) => call(admin, "GET", `/job/${id}/artifact/app`)),
  "downloadFile gone": ofLost(({ admin, id }) => call(admin, "GET", contentPath(id, "app", "a.txt"))),
  "downloadZip gone": ofLost(({ admin, id }) => call(admin, "GET", `/job/${id}/artifact/app/zip`)),
  "shareArtifact gone": ofLost(({ admin, id }) => call(admin, "POST", `/job/${id}/artifact/app/share`, { hours: 1 })),

  "reportTests lease-lost": withoutLease("tests", testReport([]), "PUT", "/job"),
  "reportTests conflict": asAgent("tests", testReport([]), nothing, "PUT", "/job"),
  "listBuildTests gone": ofLost(({ admin, id }) => call(admin, "GET", `/build/${id}/tests`)),
  "getJobTests gone": ofLost(({ admin, id }) => call(admin, "GET", `/job/${id}/tests`)),

  "findCache lease-lost": withoutLease("cache/find", QUERY, "POST", "/job"),
  "findCache conflict": asAgent("cache/find", QUERY, nothing, "POST", "/job"),
  "openCache lease-lost": withoutLease("cache", CACHE_OPENING, "POST", "/job"),
  "openCache conflict": async () => {
    const { agent, job } = await newStartedBuild();
    await saveCache(agent, job, "npm-1", BYTES);
    return openCache(agent, job, "npm-1", BYTES);
  },
  "openCache limit-reached": async () => {
    const { orgId, agent, job } = await newStartedBuild();
    await call(env.OPERATOR_TOKEN ?? "", "PATCH", `/organization/${orgId}`, { limits: { storedBytes: 0 } });
    return openCache(agent, job, "npm-1", BYTES);
  },
  "sendCachePart malformed-body": ofCache(({ agent, job }, opened) =>
    sendCachePart(agent, job, opened, new Uint8Array(BYTES.length + 1)),
  ),
  "sendCachePart conflict": ofCache(async ({ agent, job }, opened) => {
    await sendCachePart(agent, job, opened, BYTES);
    return sendCachePart(agent, job, opened, OTHER_BYTES);
  }),
  "finishCache lease-lost": ofCache(async (at, opened) => {
    await succeed(at);
    return endCache(at.agent, at.job, opened, []);
  }),
  "finishCache conflict": ofCache(({ agent, job }, opened) => endCache(agent, job, opened, [])),
  "finishCache limit-reached": limited(
    "cacheEntries",
    ofCache(async ({ agent, job }, opened) => {
      const { body } = await sendCachePart(agent, job, opened, BYTES);
      return endCache(agent, job, opened, [body.etag]);
    }),
  ),
  "downloadCache gone": async () => {
    const { agent, job, orgId } = await newStartedBuild();
    await saveCache(agent, job, "npm-1", BYTES);
    const { body } = await findCache(agent, job, ["npm-1"]);
    await emptyArchive(orgId);
    return call(agent.token, "GET", `/cache/${body.entries[0].grant}/content`);
  },
};
