import { describe, expect, it } from "vitest";
import { ROUTES } from "../../src/api/routes.ts";
import type { Access } from "../../src/services/access.ts";
import { call, created, newAgent, newOrganization, newPipeline, newRepository } from "../support/api.ts";

/** One thing of each kind of an organization, by the noun its paths begin with. */
const furnish = async (admin: string, orgId: string) => {
  const repository = await newRepository(admin);
  const pipeline = await newPipeline(admin, repository.id);
  const group = await created(admin, "/secrets/groups", { name: "g" });
  const variable = await created(admin, "/secrets/variables", {
    ...{ key: "K", value: "v", isSecret: true, scope: "organization", orgId },
  });
  const build = await created(admin, `/repository/${repository.id}/build`, { branch: "main" });
  const agent = await newAgent(admin, { name: "mac" });
  const token = await created(admin, "/token", { name: "t", kind: "api" });
  return {
    ...{ "/repository": repository.id, "/pipeline": pipeline.id, "/secrets/groups": group.id, "/buildagent": agent.id },
    ...{ "/secrets/variables": variable.id, "/build": build.id, "/token": token.id },
  } as Record<string, string>;
};

/** A body that the route would take, so that only the id decides. */
const BODIES: Record<string, unknown> = {
  "/repository/:id/build": { branch: "main" },
  "/repository/:id/credential": { kind: "token", value: "x" },
  "/build/:id/progress": {},
  "/build/:id/release": { reason: "x" },
  "/build/:id/finish": { status: "failed" },
  "/build/:id/log": "bytes",
};

const mayCall = ({ role, agent }: Access): "user" | "agent" | null => (role ? "user" : agent ? "agent" : null);

const strip = ({ status, headers, text }: { status: number; headers: Headers; text: string }) => {
  const requestId = headers.get("X-Request-Id") ?? "";
  const kept = [...headers].filter(([name]) => !["x-request-id", "millrace-bookmark"].includes(name));
  return { status, kept, text: text.replaceAll(requestId, "") };
};

describe("another organization's things", () => {
  it("answer on every route like things that do not exist", async () => {
    const [mine, other] = [await newOrganization(), await newOrganization()];
    const foreign = await furnish(other.admin, other.orgId);
    const agent = await newAgent(mine.admin);
    const before = await call(other.admin, "GET", "/audit");
    const routes = ROUTES.filter(({ path, verb }) => path.includes(":id") && mayCall(verb.access));
    expect(routes.length).toBeGreaterThan(25);
    for (const { method, path, verb } of routes) {
      const noun = Object.keys(foreign).find((prefix) => path.startsWith(`${prefix}/`)) ?? "";
      const token = mayCall(verb.access) === "user" ? mine.admin : agent.token;
      const query = path.endsWith("/log") && method === "PUT" ? "?offset=0" : "";
      const ask = async (id: string) => {
        const body = method === "PUT" || method === "POST" ? (BODIES[path] ?? (verb.body ? {} : undefined)) : undefined;
        const headers: Record<string, string> = path.startsWith("/build/") ? { "X-Lease": "1" } : {};
        return strip(await call(token, method, path.replace(":id", id) + query, body, headers));
      };
      const [theirs, unknown] = [await ask(foreign[noun] ?? ""), await ask(crypto.randomUUID())];
      expect(theirs, `${method} ${path}`).toEqual(unknown);
      expect([403, 404, 409], `${method} ${path}: ${theirs.text}`).toContain(theirs.status);
    }
    expect((await call(other.admin, "GET", "/audit")).body).toEqual(before.body);
    for (const [noun, id] of Object.entries(foreign)) {
      const listed = await call(mine.admin, "GET", noun);
      expect(listed.text).not.toContain(id);
    }
  });
});
