import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { BOOKMARK_HEADER } from "../../src/protocol/headers.ts";
import { call, expectProblem, newAgent, newOrganization, newToken } from "../support/api.ts";
import { newBuildSetup, pollOnce, readBuild, triggerBuild } from "../support/build-setup.ts";

const PATH = "/secrets/variables";

describe("the Authorization header", () => {
  const forged = (token: string) => token.slice(0, -1) + (token.endsWith("A") ? "B" : "A");

  it("is rejected in every form except a live token, before the service reads the body", async () => {
    const { orgId, admin } = await newOrganization();
    const { admin: other } = await newOrganization();
    const revoked = await newToken(admin, "admin");
    const { id } = (await call(revoked, "GET", "/token/self")).body;
    await call(admin, "DELETE", `/token/${id}`);
    const expired = await newToken(admin, "admin");
    const past = "2020-01-01T00:00:00.000Z";
    const { id: expiredId } = (await call(expired, "GET", "/token/self")).body;
    await env.DB.prepare("UPDATE token SET expires_at = ? WHERE id = ?").bind(past, expiredId).run();
    const agent = await newAgent(admin);
    await call(admin, "DELETE", `/buildagent/${agent.id}`);
    const headers: (string | null)[] = [
      ...[null, "", "Bearer", "Bearer ", "bearer", admin, `Basic ${admin}`, `Token ${admin}`, `Bearer  ${admin}`],
      ...[`Bearer ${admin} x`, `Bearer ${admin},${admin}`, `Bearer "${admin}"`, `Bearer ${admin.slice(0, -1)}`],
      ...[`Bearer ${admin}A`, `Bearer ${forged(admin)}`, `Bearer ${admin.toUpperCase()}`, `Bearer ${admin.slice(4)}`],
      ...[`Bearer ${admin.replace("mrt_", "mro_")}`, `Bearer ${admin.replace("mrt_", "mra_")}`],
      ...[`Bearer ${admin.replace(orgId, other.split("_")[1] ?? "")}`, `Bearer ${revoked}`, `Bearer ${expired}`],
      ...[`Bearer ${agent.token}`, "Bearer null", `Bearer ${"x".repeat(10_000)}`, "Bearer ../../etc/passwd"],
      ...[`Bearer mro_${"A".repeat(42)}`, "Bearer \u00e9\u00e9"],
    ];
    expect(headers.length).toBeGreaterThanOrEqual(25);
    for (const header of headers) {
      const extra: Record<string, string> = header === null ? {} : { Authorization: header };
      for (const body of [{ key: "K" }, "{", ""]) {
        const answer = await call(null, "POST", PATH, body, extra);
        expectProblem(answer, 401, "unauthenticated");
        expect(answer.headers.get("WWW-Authenticate")).toContain("Bearer");
        expect(answer.text).not.toContain(admin.slice(-20));
      }
    }
  });

  it("causes no D1 query if its token is forged", async () => {
    const { admin } = await newOrganization();
    expect((await call(admin, "GET", PATH)).headers.get("Millrace-Bookmark")).not.toBeNull();
    expect((await call(forged(admin), "GET", PATH)).headers.get("Millrace-Bookmark")).toBeNull();
  });
});

describe("a body", () => {
  it("is not checked if the caller may not write", async () => {
    const { admin } = await newOrganization();
    const viewer = await newToken(admin, "viewer");
    for (const body of ["", "{", "{}"]) expectProblem(await call(viewer, "POST", PATH, body), 403, "forbidden");
  });

  it("from an agent may contain half a surrogate pair, which the service replaces", async () => {
    const { admin, agent, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    const lease = { "X-Lease": String((await pollOnce(agent)).body.lease) };
    await call(agent.token, "POST", `/build/${id}/start`, undefined, lease);
    const ending = `{"status":"failed","exitCode":1,"message":"far too long \\ud83d"}`;
    expect((await call(agent.token, "POST", `/build/${id}/finish`, ending, lease)).status).toBe(200);
    expect(await readBuild(admin, id)).toMatchObject({ status: "failed", message: "far too long \ufffd" });
  });
});

describe("the bookmark", () => {
  it("is accepted from an earlier answer, and any other text is rejected before D1 gets it", async () => {
    const { admin } = await newOrganization();
    const read = (bookmark: string) => call(admin, "GET", PATH, undefined, { [BOOKMARK_HEADER]: bookmark });
    const earlier = (await call(admin, "GET", PATH)).headers.get(BOOKMARK_HEADER) ?? "";
    expect((await read(earlier)).status).toBe(200);
    for (const text of ["first-primary", "first-unconstrained", "x", "-", "'; --", `${earlier} `.repeat(100)]) {
      const answer = await read(text);
      expectProblem(answer, 422, "invalid");
      expect(answer.body.errors[0].pointer).toBe(BOOKMARK_HEADER);
      expect(answer.headers.get(BOOKMARK_HEADER)).toBeNull();
    }
  });
});

describe("a path", () => {
  it("without a route returns 404", async () => {
    const { admin } = await newOrganization();
    expectProblem(await call(admin, "GET", "/nothing"), 404, "not-found");
    expectProblem(await call(admin, "GET", `${PATH}/not-a-uuid`), 404, "not-found");
  });

  it("with another method returns 405 and lists its methods in Allow", async () => {
    const { admin } = await newOrganization();
    const answer = await call(admin, "DELETE", PATH);
    expectProblem(answer, 405, "method-not-allowed");
    expect(answer.headers.get("Allow")).toBe("GET, HEAD, POST, OPTIONS");
    expect((await call(admin, "HEAD", PATH)).status).toBe(200);
  });
});
