import { describe, expect, it } from "vitest";
import type { Build } from "../../src/protocol/build.ts";
import { call, expectProblem, newToken } from "../support/api.ts";
import { newBuildSetup } from "../support/build-setup.ts";

const TIMES = 100;

describe("an Idempotency-Key", () => {
  it("creates one build for a hundred concurrent requests, and one for a hundred retries", async () => {
    const { admin, pipeline } = await newBuildSetup();
    const many = (path: string, body?: object, key = "release-7") =>
      Promise.all(
        Array.from({ length: TIMES }, () => call<Build>(admin, "POST", path, body, { "Idempotency-Key": key })),
      );
    const made = await many("/build", { pipelineId: pipeline.id, branch: "main" });
    expect(new Set(made.map(({ status, body }) => `${status} ${body.id} #${body.number}`)).size).toBe(1);
    const id = made[0]?.body.id ?? "";
    expect(made[0]?.status).toBe(201);
    await call(admin, "POST", `/build/${id}/cancel`);
    const retried = await many(`/build/${id}/retry`, undefined, "retry-7");
    expect(new Set(retried.map(({ status, body }) => `${status} ${body.id} #${body.number}`)).size).toBe(1);
    expect(retried[0]?.body).toMatchObject({ number: 2, retryOf: id });
    expect((await call(admin, "GET", "/buildagent/metrics")).body.builds.waiting).toBe(1);
  });

  it("belongs to one caller and one request", async () => {
    const { admin, pipeline } = await newBuildSetup();
    const headers = { "Idempotency-Key": "one" };
    const body = { pipelineId: pipeline.id, branch: "main" };
    const { body: first } = await call<Build>(admin, "POST", "/build", body, headers);
    expectProblem(
      await call(admin, "POST", "/build", { ...body, branch: "next" }, headers),
      422,
      "idempotency-mismatch",
    );
    const { body: other } = await call<Build>(await newToken(admin, "member"), "POST", "/build", body, headers);
    expect(other.id).not.toBe(first.id);
    expect((await call<Build>(admin, "POST", "/build", body)).body.id).not.toBe(first.id);
  });
});
