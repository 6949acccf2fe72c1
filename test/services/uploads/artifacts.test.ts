import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { openGrants } from "../../../src/services/core/grants.ts";
import worker from "../../../src/worker.ts";
import { call, expectProblem, newOrganization, newToken } from "../../support/api.ts";
import { type Files, packed } from "../../support/artifact-files.ts";
import { sendArtifact } from "../../support/artifacts.ts";
import { callWithLease, startNextJob } from "../../support/jobs.ts";
import {
  contentPath,
  listArtifacts,
  newBuildWithArtifact,
  newPlannedBuild,
  newStartedBuild,
} from "../../support/new-builds.ts";

const FILES = { "report/index.html": "<h1>Fine</h1>", "report/data/a b#1%.json": "[1,2,3]", "empty.txt": "" };
const HOUR_MS = 3_600_000;
const bytes = packed(FILES).bytes.length;

/** Calls `act` at a later time. */
const at = async <T>(later: number, act: () => Promise<T>): Promise<T> => {
  vi.setSystemTime(Date.now() + later);
  try {
    return await act();
  } finally {
    vi.useRealTimers();
  }
};

describe("an artifact", () => {
  it("is available once its job has ended, with its files", async () => {
    const { admin, id, opened } = await newBuildWithArtifact(FILES);
    const listed = await call(admin, "GET", `/build/${id}/artifact`);
    const record = {
      ...{ id: opened.artifactId, jobId: id, name: "report", as: "files", bytes, files: 3 },
      ...{ createdAt: expect.any(String), expiresAt: expect.stringMatching(/T00:00:00.000Z$/) },
    };
    expect(listed, listed.text).toMatchObject({ status: 200, body: [record] });
    expect((await listArtifacts(admin, id)).body).toEqual([record]);
    const whole = await call(admin, "GET", `/job/${id}/artifact/report`);
    expect(whole.body).toMatchObject({ ...record, list: Object.keys(FILES).map((path) => ({ path })) });
    const days = (Date.parse(whole.body.expiresAt) - Date.parse(whole.body.createdAt)) / (24 * HOUR_MS);
    expect(days).toBeGreaterThan(30);
    expect(days).toBeLessThanOrEqual(31);
  });

  it.each(Object.entries(FILES))("returns %s as a download, never to be displayed", async (path, text) => {
    const { admin, id } = await newBuildWithArtifact(FILES);
    const file = await call(admin, "GET", contentPath(id, "report", path));
    expect(file, file.text).toMatchObject({ status: 200, text });
    const headers = Object.fromEntries(file.headers);
    expect(headers).toMatchObject({
      ...{ "content-length": String(text.length), "content-type": "application/octet-stream" },
      ...{ "x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin" },
      ...{ "content-security-policy": "sandbox; default-src 'none'", "accept-ranges": "bytes" },
    });
    expect(headers["content-disposition"]).toMatch(/^attachment; filename="[\w. -]+"; filename\*=UTF-8''[\w%.-]+$/);
    expect(headers["set-cookie"]).toBeUndefined();
  });

  it.each([
    ["bytes=0-3", 206, "<h1>", `bytes 0-3/13`],
    ["bytes=9-", 206, "/h1>", `bytes 9-12/13`],
    ["bytes=-2", 206, "1>", `bytes 11-12/13`],
    ["bytes=-99", 206, "<h1>Fine</h1>", `bytes 0-12/13`],
    ["bytes=12-99", 206, ">", `bytes 12-12/13`],
    ["bytes=13-", 416, "", "bytes */13"],
    ["bytes=5-2", 416, "", "bytes */13"],
    ["bytes=-0", 416, "", "bytes */13"],
    ["bytes=0-1,3-4", 200, "<h1>Fine</h1>", null],
    ["lines=0-1", 200, "<h1>Fine</h1>", null],
    ["bytes=a-b", 200, "<h1>Fine</h1>", null],
  ])("answers the range %s with %i", async (Range, status, text, contentRange) => {
    const { admin, id } = await newBuildWithArtifact(FILES);
    const path = contentPath(id, "report", "report/index.html");
    for (const method of ["GET", "HEAD"]) {
      const answer = await call(admin, method, path, undefined, { Range });
      expect(answer, answer.text).toMatchObject({ status, text: method === "GET" ? text : "" });
      expect(answer.headers.get("Content-Range")).toBe(contentRange);
    }
    expectProblem(await call(admin, "GET", contentPath(id, "report", "report")), 404, "not-found");
    expectProblem(await call(admin, "GET", contentPath(id, "report", "Empty.txt")), 404, "not-found");
    const empty = await call(admin, "GET", contentPath(id, "report", "empty.txt"), undefined, { Range: "bytes=0-" });
    expect(empty.status).toBe(416);
  });

  it("is not sent again to a client that has it, and is resumed for one that has a part", async () => {
    const { admin, id } = await newBuildWithArtifact(FILES);
    const path = contentPath(id, "report", "report/index.html");
    const tag = (await call(admin, "HEAD", path)).headers.get("ETag") ?? "";
    expect(tag).toMatch(/^"[0-9a-f]{64}"$/);
    const asked = async (headers: Record<string, string>, method = "GET") => {
      const { status, text, headers: told } = await call(admin, method, path, undefined, headers);
      return [status, text, told.get("Content-Range"), told.get("ETag")];
    };
    const whole = [200, "<h1>Fine</h1>", null, tag];
    for (const method of ["GET", "HEAD"])
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"])
        expect(await asked({ "If-None-Match": known, Range: "bytes=0-3" }, method), known).toEqual([
          304,
          "",
          null,
          tag,
        ]);
    expect(await asked({ "If-None-Match": '"other"' })).toEqual(whole);
    expect(await asked({ "If-Range": tag, Range: "bytes=0-3" })).toEqual([206, "<h1>", "bytes 0-3/13", tag]);
    for (const other of ['"other"', `W/${tag}`, "*", new Date().toUTCString()])
      expect(await asked({ "If-Range": other, Range: "bytes=0-3" }), other).toEqual(whole);
    expect(await asked({ "If-Range": '"other"', Range: "bytes=13-" })).toEqual(whole);
    expect(await asked({ "If-Range": '"other"' })).toEqual(whole);
    // A resource without a tag never matches If-Range, and is sent as a whole.
    const text = (await call(admin, "GET", `/build/${id}/log`)).text.length;
    const log = await call(admin, "GET", `/build/${id}/log`, undefined, { "If-Range": tag, Range: "bytes=0-3" });
    expect([log.status, log.text.length]).toEqual([200, text]);
  });

  it("is invisible while its job runs, and where the job was canceled", async () => {
    const { admin, agent, job, id } = await newStartedBuild();
    await sendArtifact(agent, job, "report", FILES);
    const hidden = async () => {
      expect((await listArtifacts(admin, id)).body).toEqual([]);
      expect((await call(admin, "GET", `/build/${id}/artifact`)).body).toEqual([]);
      for (const end of ["", "/content/empty.txt", "/zip"])
        expectProblem(await call(admin, "GET", `/job/${id}/artifact/report${end}`), 404, "not-found");
      expectProblem(await call(admin, "POST", `/job/${id}/artifact/report/share`, { hours: 1 }), 404, "not-found");
      expectProblem(await call(admin, "DELETE", `/job/${id}/artifact/report`), 404, "not-found");
    };
    await hidden();
    await call(admin, "POST", `/build/${id}/cancel`);
    await callWithLease(agent, job, "POST", "finish", { status: "canceled" });
    await hidden();
  });

  it("is invisible to other organizations and to agents", async () => {
    const { admin, agent, id } = await newBuildWithArtifact(FILES);
    const { admin: stranger } = await newOrganization();
    const paths = ["", "/report", "/report/content/empty.txt", "/report/zip"].map((end) => `/job/${id}/artifact${end}`);
    for (const path of [...paths, `/build/${id}/artifact`]) {
      expectProblem(await call(stranger, "GET", path), 404, "not-found");
      expectProblem(await call(agent.token, "GET", path), 403, "forbidden");
      expectProblem(await call(null, "GET", path), 401, "unauthenticated");
      expect((await call(await newToken(admin, "viewer"), "GET", path)).status, path).toBe(200);
    }
  });

  it("stays with its build's record when the pool has forgotten that", async () => {
    const { admin, id, orgId } = await newBuildWithArtifact(FILES);
    const pool = env.AGENT_POOL.getByName(orgId);
    await pool.flush();
    await expect.poll(async () => (await env.ARCHIVE.list({ prefix: "record/" })).objects.length).toBeGreaterThan(0);
    await at(25 * HOUR_MS, () => pool.sweep());
    expect((await pool.artifactsOf(id)).ok).toBe(false);
    expect((await listArtifacts(admin, id)).body).toMatchObject([{ name: "report" }]);
    expect((await call(admin, "GET", contentPath(id, "report", "report/index.html"))).text).toBe("<h1>Fine</h1>");
    const deleted = await call(admin, "DELETE", `/job/${id}/artifact/report`);
    expect(deleted, deleted.text).toMatchObject({ status: 204 });
    expect((await listArtifacts(admin, id)).body).toEqual([]);
  });

  it("is listed in the order of its build's jobs", async () => {
    const { admin, agent, buildId, ids } = await newPlannedBuild(
      "jobs:\n  one: { steps: [{ run: x }] }\n  two: { needs: [one], steps: [{ run: x }] }\n",
    );
    for (const name of ["first", "second"]) {
      const job = await startNextJob(agent);
      await sendArtifact(agent, job, name, { x: name });
      await callWithLease(agent, job, "POST", "finish", { status: name === "first" ? "succeeded" : "failed" });
      expect((await listArtifacts(admin, job.job!.id)).body).toMatchObject([{ name, jobId: job.job!.id }]);
    }
    expect((await call(admin, "GET", `/build/${buildId}/artifact`)).body).toMatchObject([
      { name: "first", jobId: ids.one },
      { name: "second", jobId: ids.two },
    ]);
    expect((await listArtifacts(admin, buildId)).body).toEqual([]);
  });
});

describe("DELETE /job/{id}/artifact/{name}", () => {
  it("requires a member, leaves no byte, and is recorded in the audit", async () => {
    const { admin, id, orgId } = await newBuildWithArtifact(FILES);
    const path = `/job/${id}/artifact/report`;
    expectProblem(await call(await newToken(admin, "viewer"), "DELETE", path), 403, "forbidden");
    expect((await call(await newToken(admin, "member"), "DELETE", path)).status).toBe(204);
    expectProblem(await call(admin, "GET", path), 404, "not-found");
    expectProblem(await call(admin, "DELETE", path), 404, "not-found");
    const keys = (await env.ARCHIVE.list({ prefix: "artifact/" })).objects.map(({ key }) => key);
    expect(keys.filter((key) => key.includes(orgId))).toEqual([]);
    const { body } = await call(admin, "GET", "/audit?action=artifact.delete");
    expect(body).toMatchObject([{ subject: id, detail: { name: "report" } }]);
    await env.AGENT_POOL.getByName(orgId).flush();
    expect((await call(admin, "GET", `/build/${id}`)).body.status).toBe("succeeded");
  });

  it("is also done by deleting the build", async () => {
    const { admin, id, orgId } = await newBuildWithArtifact(FILES);
    await env.AGENT_POOL.getByName(orgId).flush();
    expect((await call(admin, "DELETE", `/build/${id}`)).status).toBe(204);
    const keys = (await env.ARCHIVE.list({ prefix: "artifact/" })).objects.map(({ key }) => key);
    expect(keys.filter((key) => key.includes(orgId))).toEqual([]);
    expectProblem(await call(admin, "GET", `/job/${id}/artifact/report`), 404, "not-found");
  });
});

describe("a shared artifact", () => {
  const shared = async (body: object = { hours: 1 }, files: Files = FILES) => {
    const setup = await newBuildWithArtifact(files);
    const answer = await call(setup.admin, "POST", `/job/${setup.id}/artifact/report/share`, body);
    expect(answer, answer.text).toMatchObject({ status: 200 });
    return { ...setup, path: new URL(answer.body.url).pathname, answer };
  };

  it("is shown to anyone with its address, until it expires", async () => {
    const { path, answer, admin, id } = await shared();
    expect(Date.parse(answer.body.expiresAt)).toBeLessThanOrEqual(Date.now() + HOUR_MS);
    const zip = await call(null, "GET", path);
    expect(zip).toMatchObject({ status: 200 });
    expect(zip.headers.get("Content-Disposition")).toContain("report.zip");
    expect((await call(null, "GET", `${path}/report/index.html`)).text).toBe("<h1>Fine</h1>");
    expectProblem(await call(null, "GET", `${path}/nothing`), 404, "not-found");
    expect((await call(admin, "GET", "/audit?action=artifact.share")).body).toMatchObject([{ subject: id }]);
    await at(HOUR_MS, async () => {
      expectProblem(await call(null, "GET", path), 404, "not-found");
      expectProblem(await call(null, "GET", `${path}/report/index.html`), 404, "not-found");
    });
  });

  it("shows only the shared path", async () => {
    const one = await shared({ hours: 168, path: "report/index.html" });
    expect((await call(null, "GET", one.path)).text).toBe("<h1>Fine</h1>");
    expect((await call(null, "GET", `${one.path}/report/index.html`)).status).toBe(200);
    expectProblem(await call(null, "GET", `${one.path}/empty.txt`), 404, "not-found");
    const folder = await shared({ hours: 1, path: "report/data" });
    expect((await call(null, "GET", `${folder.path}/report/data/a%20b%231%25.json`)).text).toBe("[1,2,3]");
    expectProblem(await call(null, "GET", `${folder.path}/report/index.html`), 404, "not-found");
    expectProblem(await call(null, "GET", `${folder.path}/empty.txt`), 404, "not-found");
  });

  it("requires a member to create, with a valid time and path", async () => {
    const { admin, id, agent } = await newBuildWithArtifact(FILES);
    const path = `/job/${id}/artifact/report/share`;
    expectProblem(await call(await newToken(admin, "viewer"), "POST", path, { hours: 1 }), 403, "forbidden");
    expectProblem(await call(agent.token, "POST", path, { hours: 1 }), 403, "forbidden");
    for (const body of [{}, { hours: 0 }, { hours: 169 }, { hours: 1, path: "rep" }, { hours: 1, path: "../x" }])
      expectProblem(await call(admin, "POST", path, body), 422, "invalid");
  });

  it("is gone with the artifact, and a forged address shows nothing", async () => {
    const { admin, id, path } = await shared();
    const other = await shared();
    const [text, tag] = path.slice("/share/".length).split(".");
    const [, otherTag] = other.path.split(".");
    for (const forged of [`${text}.${otherTag}`, `${text}x.${tag}`, `${text}`, "mrx_e30.x", "%00"])
      expectProblem(await call(null, "GET", `/share/${forged}`), 404, "not-found");
    expectProblem(await call(null, "GET", `/artifact/${text}.${tag}/content`), 401, "unauthenticated");
    await call(admin, "DELETE", `/job/${id}/artifact/report`);
    expectProblem(await call(null, "GET", path), 410, "gone");
  });
});

describe("the host of ARTIFACT_ORIGIN", () => {
  const own = { ...env, ARTIFACT_ORIGIN: "https://artifacts.test" } as Env;
  const ask = async (url: string, headers: Record<string, string> = {}) => {
    const context = { waitUntil() {}, passThroughOnException() {} } as unknown as ExecutionContext;
    const request = new Request(url, { headers, redirect: "manual" });
    const response = await worker.fetch(request as never, own, context);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const page = async () => {
    const setup = await newBuildWithArtifact(FILES);
    const record = await env.AGENT_POOL.getByName(setup.orgId).artifactsOf(setup.id);
    const [found] = record.ok ? record.value.artifacts[setup.id]! : [];
    const facts = { ...found!, orgId: setup.orgId, jobId: setup.id, until: Date.now() + HOUR_MS };
    const grants = openGrants(env);
    return {
      ...setup,
      view: `https://artifacts.test/view/${await grants.grant("view", facts)}`,
      share: await grants.grant("share", facts),
    };
  };

  it("shows a report in a sandbox, with its own files", async () => {
    const { view } = await page();
    const shown = await ask(`${view}/report/`);
    expect(shown).toMatchObject({ status: 200, text: "<h1>Fine</h1>" });
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      ...{ "content-type": "text/html; charset=utf-8", "access-control-allow-origin": "*" },
      ...{ "content-security-policy": "sandbox allow-scripts allow-popups", "referrer-policy": "no-referrer" },
    });
    expect(await ask(`${view}/report/data/a%20b%231%25.json`)).toMatchObject({ status: 200, text: "[1,2,3]" });
    const folder = await ask(`${view}/report`);
    expect(folder.status).toBe(302);
    expect(folder.headers.get("Location")).toBe(`${new URL(view).pathname}/report/`);
    expect((await ask(`${view}/`)).status).toBe(404);
    expect((await ask(`${view}/nothing`)).status).toBe(404);
    await at(HOUR_MS, async () => expect((await ask(`${view}/report/`)).status).toBe(404));
  });

  it("serves nothing else, and reads no cookie and no token", async () => {
    const { admin, id, view, share } = await page();
    const paths = [
      "/",
      "/app",
      "/app/builds",
      "/health",
      "/readiness",
      `/build/${id}`,
      `/job/${id}/artifact/report/zip`,
    ];
    for (const path of [...paths, `/share/${share}`, `/view/${share}/report/index.html`, "/view/x/y"]) {
      const answer = await ask(`https://artifacts.test${path}`, {
        Authorization: `Bearer ${admin}`,
        Cookie: "session=x",
      });
      expect(answer.status, path).toBe(404);
      expect(answer.headers.get("Content-Security-Policy")).toBe("sandbox allow-scripts allow-popups");
      expect(answer.headers.get("Set-Cookie")).toBeNull();
    }
    const elsewhere = view.replace("artifacts.test", "millrace.test");
    expect((await ask(`${elsewhere}/report/index.html`)).status).toBe(404);
    expect((await call(null, "GET", new URL(`${view}/report/index.html`).pathname)).status).toBe(404);
  });
});
