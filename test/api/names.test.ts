import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call, create, newOrganization } from "../support/api.ts";

describe("a name", () => {
  it("may contain the joiners that scripts and emoji need", async () => {
    const { admin } = await newOrganization();
    for (const name of ["می\u200cخواهم", "क्\u200dष", "👩\u200d🔧 builds", "שלום عالم"]) {
      expect((await create(admin, "/secrets/groups", { name })).name).toBe(name);
    }
  });

  it("that a newer rule forbids is still readable, and the record's other fields can change", async () => {
    const { admin } = await newOrganization();
    const { id } = await create(admin, "/secrets/groups", { name: "plain" });
    const name = "a\u202eb";
    await env.DB.prepare("UPDATE variable_group SET name = ? WHERE id = ?").bind(name, id).run();
    expect((await call(admin, "GET", `/secrets/groups/${id}`)).body.name).toBe(name);
    const change = { description: "from an older release" };
    expect((await call(admin, "PUT", `/secrets/groups/${id}`, change)).body).toMatchObject({ name, ...change });
    expect((await call(admin, "PUT", `/secrets/groups/${id}`, { name })).status).toBe(422);
  });
});
