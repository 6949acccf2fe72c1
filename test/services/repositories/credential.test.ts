import { describe, expect, it } from "vitest";
import { call, newOrganization, newRepository } from "../../support/api.ts";

describe("a repository", () => {
  it("says whether it has a clone credential, and gets a new version when that changes", async () => {
    const { admin } = await newOrganization();
    const made = await newRepository(admin);
    expect(made.hasCredential).toBe(false);
    const path = `/repository/${made.id}`;
    const steps = [
      { method: "PUT", body: { kind: "token", value: "clone-token" }, hasCredential: true },
      { method: "PUT", body: { kind: "token", value: "another" }, hasCredential: true },
      { method: "DELETE", body: undefined, hasCredential: false },
    ];
    for (const { method, body, hasCredential } of steps) {
      const etag = (await call(admin, "GET", path)).headers.get("ETag") ?? "";
      expect((await call(admin, "GET", path, undefined, { "If-None-Match": etag })).status).toBe(304);
      expect((await call(admin, method, `${path}/credential`, body)).status).toBeLessThan(300);
      const read = await call(admin, "GET", path, undefined, { "If-None-Match": etag });
      expect([read.status, read.body.hasCredential]).toEqual([200, hasCredential]);
      expect((await call(admin, "GET", "/repository")).body).toEqual([read.body]);
      expect((await call(admin, "PUT", path, read.body)).body).toMatchObject({ hasCredential });
      expect((await call(admin, "PUT", path, { hasCredential: !hasCredential })).status).toBe(422);
    }
  });
});
