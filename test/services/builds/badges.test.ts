import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { call, expectProblem } from "../../support/api.ts";
import { type BuildSetup, finishNewJob, newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, poolStub } from "../../support/deployment.ts";

let setup: BuildSetup;
beforeAll(async () => {
  setup = await newBuildSetup();
});

const path = () => `/pipeline/${setup.pipeline.id}/badge`;
const newAddress = async (): Promise<string> =>
  new URL((await call(setup.admin, "POST", path())).body.url as string).pathname;

/** Creates a database that counts its queries. */
const counted = () => {
  let batches = 0;
  const DB = {
    prepare: (query: string) => env.DB.prepare(query),
    withSession: (constraint?: string) => {
      const real = env.DB.withSession(constraint);
      const batch = (statements: D1PreparedStatement[]) => {
        batches += 1;
        return real.batch(statements);
      };
      return { prepare: (query: string) => real.prepare(query), getBookmark: () => real.getBookmark(), batch };
    },
  } as unknown as D1Database;
  return { ask: callDeployedWith({ DB }), batches: () => batches };
};

it("a badge shows the branch's newest ended build, or a running one where none has ended", async () => {
  const address = await newAddress();
  const state = async (query = "") =>
    /aria-label="[^"]*: ([^"]*)"/.exec((await call(null, "GET", address + query)).text)?.[1];
  expect(await state()).toBe("no build");
  await triggerBuild(setup.admin, setup.pipeline.id, { branch: "next" });
  expect([await state(), await state("?branch=next")]).toEqual(["no build", "running"]);
  await call(setup.admin, "POST", `/build/${(await call(setup.admin, "GET", "/build?branch=next")).body[0].id}/cancel`);
  await finishNewJob(setup);
  await poolStub(setup.orgId).flush();
  expect([await state(), await state("?branch=next")]).toEqual(["succeeded", "canceled"]);
  for (const branch of ["gone", "a..b", "x".repeat(300), "%00", "refs/heads/"]) {
    expect(await state(`?branch=${branch}`), branch).toBe("no build");
  }
});

it("a badge is an image that runs nothing, and 304 for a client that has it", async () => {
  const address = await newAddress();
  const { headers, status, text } = await call(null, "GET", address);
  expect(status).toBe(200);
  expect(headers.get("Content-Type")).toBe("image/svg+xml; charset=utf-8");
  expect(headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  expect(headers.get("Cache-Control")).toBe("max-age=60");
  const again = await call(null, "GET", address, undefined, { "If-None-Match": headers.get("ETag") ?? "" });
  expect([again.status, again.text]).toEqual([304, ""]);
  expect((await call(null, "GET", address, undefined, { "If-None-Match": "*" })).status).toBe(304);
  expect(text).not.toContain(setup.orgId);
});

it("a badge escapes a hostile name", async () => {
  await call(setup.admin, "PUT", `/pipeline/${setup.pipeline.id}`, {
    name: `"><script>alert(1)</script>&'${"é".repeat(60)}`,
  });
  const { text } = await call(null, "GET", await newAddress());
  expect(text).not.toContain("<script");
  expect(text).toContain("&quot;&gt;&lt;script&gt;");
  expect(text.length).toBeLessThan(2000);
});

it("rejects forged, outdated and revoked badge addresses alike, forged ones without a query", async () => {
  const first = await newAddress();
  const second = await newAddress();
  expect(second).not.toBe(first);
  const { ask, batches } = counted();
  const forged = [
    second.replace(/.\.svg$/, (end) => (end[0] === "A" ? "B.svg" : "A.svg")),
    second.replace(/\.(\d+)_/, (_, generation) => `.${Number(generation) + 1}_`),
    second.replace(setup.orgId, "another"),
    second.replace(".svg", ""),
    "/badge/x.svg",
    `/badge/${"mrb_".repeat(500)}.svg`,
  ];
  for (const address of forged) expect((await ask("", "GET", address)).status, address).toBe(404);
  expect(batches()).toBe(0);
  expect((await ask("", "GET", second)).status).toBe(200);
  expect(batches()).toBe(1);
  expectProblem(await call(null, "GET", first), 404, "not-found");
  expect((await call(setup.admin, "DELETE", path())).status).toBe(204);
  expectProblem(await call(null, "GET", second), 404, "not-found");
  const third = await newAddress();
  expect([first, second]).not.toContain(third);
  expect((await call(null, "GET", second)).status).toBe(404);
  expect((await call(null, "GET", third)).status).toBe(200);
});

it("limits badge requests by the client's address", async () => {
  const none: RateLimit = { limit: async () => ({ success: false }) };
  const answer = await callDeployedWith({ TOKEN_RATE: none })("", "GET", "/badge/x.svg");
  expectProblem(answer, 429, "rate-limited");
});
