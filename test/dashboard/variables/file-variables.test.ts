import { describe, expect, it } from "vitest";
import { call, newOrganization } from "../../support/api.ts";
import { personWith } from "../shell/page-requests.ts";

const PEM = "-----BEGIN-----\nc2VjcmV0\n-----END-----\n";

const stage = async () => {
  const { orgId, admin } = await newOrganization();
  const only = async () => (await call(admin, "GET", "/secrets/variables?includeInactive=true")).body[0];
  const fields = { key: "CERT", owner: `organization:${orgId}`, isSecret: "on", value: PEM, allowOverride: "on" };
  return { admin, person: await personWith(admin), only, fields };
};

describe("the forms for variables", () => {
  it("create a file variable, do not show its text, and change it back to a value", async () => {
    const { person, only, fields, admin } = await stage();
    const form = { ...fields, fileEncoding: "text", fileName: " dist.pem " };
    expect((await person.submit("/variables/new", form)).status).toBe(303);
    const made = await only();
    expect(made).toMatchObject({ isFile: true, fileEncoding: "text", fileName: "dist.pem", isSecret: true });
    const page = await person.open(`/variables/${made.id}`);
    expect(page.text).toContain("file dist.pem");
    expect(page.text).toMatch(/<option value="text" selected/);
    expect(page.text).not.toContain("c2VjcmV0");
    expect((await person.open("/variables")).text).toContain('<span class="label">file</span>');
    const edited = { key: "CERT", wasSecret: "on", value: "", isSecret: "on", isActive: "on" };
    expect((await person.submit(`/variables/${made.id}`, { ...edited, description: "older form" })).status).toBe(303);
    expect(await only()).toMatchObject({ isFile: true, fileName: "dist.pem", description: "older form" });
    const asValue = { ...edited, fileEncoding: "", fileName: "" };
    expect((await person.submit(`/variables/${made.id}`, asValue)).status).toBe(303);
    expect(await only()).not.toHaveProperty("isFile");
    expect((await call(admin, "GET", "/audit")).text).not.toContain("c2VjcmV0");
  });

  it("report a mistake at its field, and do not return the secret", async () => {
    const { person, only, fields } = await stage();
    const wrong = [
      [{ fileEncoding: "base64" }, "must be base64"],
      [{ fileEncoding: "text", fileName: "../x" }, "must not have a slash"],
      [{ fileEncoding: "", fileName: "x" }, "requires isFile"],
      [{ fileEncoding: "zip" }, "fileEncoding"],
    ] as const;
    for (const [change, words] of wrong) {
      const { status, text } = await person.submit("/variables/new", { ...fields, ...change });
      expect(status).toBe(422);
      expect(text).toContain(words);
      expect(text).not.toContain("c2VjcmV0");
    }
    expect(await only()).toBeUndefined();
  });

  it("warn about a secret that is hard to mask", async () => {
    const { person, only, fields } = await stage();
    const stored = await person.submit("/variables/new", { ...fields, value: '{ "private_key": "x" }' });
    const changed = await person.submit(`/variables/${(await only()).id}`, { ...fields, isActive: "on", value: "ab" });
    const warnings = [];
    for (const { headers } of [stored, changed])
      warnings.push((await person.open(headers.get("location")!.replace("/app", ""))).text);
    expect(warnings[0]).toContain("not single values that a step extracts from its JSON");
    expect(warnings[1]).toContain("so short that masking it hides");
  });

  it("create a plain value if the form has no file fields", async () => {
    const { person, only, fields } = await stage();
    expect((await person.submit("/variables/new", fields)).status).toBe(303);
    expect(await only()).not.toHaveProperty("isFile");
  });
});
