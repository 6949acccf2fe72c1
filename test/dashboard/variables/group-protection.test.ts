import { describe, expect, it } from "vitest";
import { call, create, newOrganization, newToken } from "../../support/api.ts";
import { personWith } from "../shell/page-requests.ts";

const stage = async () => {
  const { admin } = await newOrganization();
  const { id } = await create(admin, "/secrets/groups", { name: "release" });
  const protectionOf = async () => (await call(admin, "GET", `/secrets/groups/${id}`)).body.protection;
  return { admin, id, protectionOf, path: `/groups/${id}` };
};

const FIELDS = { name: "release", description: "", hasProtection: "on" };

describe("a variable group's page", () => {
  it("sets, shows and removes the protection", async () => {
    const { admin, path, protectionOf } = await stage();
    const person = await personWith(admin);
    const form = {
      ...{ ...FIELDS, isProtected: "on", "protection/branches": " main \n\nrelease/*", "protection/tags": "" },
      "protection/approval": "maintainer",
    };
    expect((await person.submit(path, form)).status).toBe(303);
    expect(await protectionOf()).toEqual({ branches: ["main", "release/*"], tags: null, approval: "maintainer" });
    const { text } = await person.open(path);
    expect(text).toContain("<code>release/*</code>");
    expect(text).toContain("after approval by a maintainer or above");
    expect((await person.open("/groups")).text).toContain("protected");
    expect((await person.submit(path, FIELDS)).status).toBe(303);
    expect(await protectionOf()).toBeNull();
    expect((await person.open(path)).text).not.toContain('id="protection"');
  });

  it("creates a group that is protected from the start", async () => {
    const { admin } = await stage();
    const person = await personWith(admin);
    const { to } = await person.submit("/groups", { ...FIELDS, name: "new", isProtected: "on" });
    expect((await person.open(to.replace(/^\/app|\?.*/g, ""))).text).toContain("on any branch or tag");
  });

  it("reports a wrong pattern once, at its field, and keeps the typed text", async () => {
    const { admin, path, protectionOf } = await stage();
    const person = await personWith(admin);
    const typed = `main\n!`;
    const answer = await person.submit(path, { ...FIELDS, isProtected: "on", "protection/branches": typed });
    expect(answer.status).toBe(422);
    expect(answer.text).toMatch(/1 field needs a change/);
    expect(answer.text).toMatch(/<textarea id="protection\/branches"[^>]* aria-invalid="true"/);
    expect(answer.text).toContain(typed);
    expect(answer.text.match(/class="wrong"/g)).toHaveLength(1);
    expect(await protectionOf()).toBeNull();
  });

  it("lets only admins edit a protection that requires an admin, and keeps it when a maintainer saves", async () => {
    const { admin, id, path, protectionOf } = await stage();
    const protection = { branches: ["main"], tags: null, approval: "admin" };
    await call(admin, "PUT", `/secrets/groups/${id}`, { protection });
    const maintainer = await personWith(await newToken(admin, "maintainer"));
    const { text } = await maintainer.open(path);
    expect(text).toContain("after approval by an admin");
    expect(text).not.toContain('name="isProtected"');
    expect((await maintainer.submit(path, { name: "release", description: "changed" })).status).toBe(303);
    expect(await protectionOf()).toEqual(protection);
    const forged = { ...FIELDS, isProtected: "on", "protection/approval": "viewer" };
    expect((await maintainer.submit(path, forged)).status).toBe(403);
    expect(await protectionOf()).toEqual(protection);
    expect((await maintainer.open("/groups")).text).not.toContain('<option value="admin"');
  });
});
