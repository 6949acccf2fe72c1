import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { ORGANIZATION_LIMITS } from "../../../src/protocol/organization.ts";
import { call, create, expectProblem, newOrganization, newRepository } from "../../support/api.ts";

const operator = env.OPERATOR_TOKEN ?? "";
const patch = (token: string, orgId: string, body: object) => call(token, "PATCH", `/organization/${orgId}`, body);
const stored = async (orgId: string) =>
  (await env.DB.prepare("SELECT limits FROM organization WHERE id = ?").bind(orgId).first<{ limits: string }>())
    ?.limits;

describe("PATCH /organization/{id}", () => {
  it("sets limits, keeps the others at their defaults, and records it in the audit", async () => {
    const { orgId, admin } = await newOrganization();
    expect(await stored(orgId)).toBeNull();
    const raised = await patch(operator, orgId, { limits: { buildsPerDay: 90_000, tokens: 3 } });
    expect([raised.status, raised.body.limits]).toEqual([
      200,
      { ...ORGANIZATION_LIMITS, buildsPerDay: 90_000, tokens: 3 },
    ]);
    const back = await patch(operator, orgId, { limits: { tokens: null, groups: ORGANIZATION_LIMITS.groups } });
    expect(back.body.limits).toEqual({ ...ORGANIZATION_LIMITS, buildsPerDay: 90_000 });
    expect(await stored(orgId)).toBe('{"buildsPerDay":90000}');
    const { body: audit } = await call(admin, "GET", "/audit?action=organization.update");
    expect(audit.map(({ actor, detail }: { actor: string; detail: object }) => [actor, detail])).toEqual([
      ["operator", { changes: { tokens: { from: 3, to: ORGANIZATION_LIMITS.tokens } } }],
      [
        "operator",
        {
          changes: {
            buildsPerDay: { from: ORGANIZATION_LIMITS.buildsPerDay, to: 90_000 },
            tokens: { from: ORGANIZATION_LIMITS.tokens, to: 3 },
          },
        },
      ],
    ]);
    const again = await call(operator, "PUT", `/organization/${orgId}`, back.body);
    expect([again.status, again.body]).toEqual([200, back.body]);
    const { body: listed } = await call(operator, "GET", `/organization?limit=200`);
    expect(listed.find(({ id }: { id: string }) => id === orgId) ?? back.body).toEqual(back.body);
  });

  it("rejects an invalid limit, and changes nothing", async () => {
    const { orgId } = await newOrganization();
    const range = "must be 0 to 10,000,000";
    const wrong: [object, string, string?][] = [
      [{ buildsPerDay: -1 }, "/limits/buildsPerDay", range],
      [{ tokens: 10_000_001 }, "/limits/tokens", range],
      [{ storedBytes: 2 ** 50 + 2 }, "/limits/storedBytes"],
      [{ tokens: 1.5 }, "/limits/tokens"],
      [{ tokens: "9" }, "/limits/tokens"],
      [{ buildsPerWeek: 1 }, "/limits", "has an unknown field"],
    ];
    for (const [limits, pointer, detail = expect.any(String)] of wrong) {
      const answer = await patch(operator, orgId, { limits: { groups: 1, ...limits } });
      expectProblem(answer, 422, "invalid");
      expect(answer.body.errors).toEqual([{ pointer, detail }]);
    }
    expectProblem(await patch(operator, orgId, { name: "Other" }), 422, "invalid");
    expectProblem(await patch(operator, "no-such-one", { limits: {} }), 404, "not-found");
    expect(await stored(orgId)).toBeNull();
  });

  it("requires the operator's token: the organization cannot raise its limits", async () => {
    const { orgId, admin } = await newOrganization();
    const other = await newOrganization();
    const agents = await create(admin, "/token", { name: "machines", kind: "registration" });
    for (const token of [admin, other.admin, agents.token]) {
      expectProblem(await patch(token, orgId, { limits: { tokens: 9 } }), 403, "forbidden");
    }
    expect(await stored(orgId)).toBeNull();
  });
});

const NOUNS: [keyof typeof ORGANIZATION_LIMITS, string, (n: number, repoId: string) => object][] = [
  ["tokens", "/token", (n) => ({ name: `t${n}`, kind: "api" })],
  ["connections", "/connection", (n) => ({ kind: "gitea", name: `c${n}`, webUrl: "https://git.example" })],
  ["groups", "/secrets/groups", (n) => ({ name: `g${n}` })],
  ["pipelines", "/pipeline", (n, repoId) => ({ repoId, name: `p${n}` })],
  [
    "repositories",
    "/repository",
    (n) => ({ gitHostRepoId: n + 9, fullName: `a/r${n}`, cloneUrl: `https://git.example/a/r${n}.git` }),
  ],
];

describe("a limit on records", () => {
  it.each(NOUNS)("%s: concurrent requests do not exceed it, and a deletion makes room", async (what, path, body) => {
    const [{ orgId, admin }, control] = [await newOrganization(), await newOrganization()];
    const ofBoth = { [orgId]: await newRepository(admin), [control.orgId]: await newRepository(control.admin) };
    const before = (await call(admin, "GET", path)).body.length;
    await patch(operator, orgId, { limits: { [what]: before + 3 } });
    const make = async (org: typeof control) =>
      (
        await Promise.all([1, 2, 3, 4, 5, 6].map((n) => call(org.admin, "POST", path, body(n, ofBoth[org.orgId]!.id))))
      ).map(({ status }) => status);
    expect((await make({ orgId, admin })).sort()).toEqual([201, 201, 201, 429, 429, 429]);
    expect(await make(control)).toEqual([201, 201, 201, 201, 201, 201]);
    const { body: listed } = await call(admin, "GET", path);
    expect(listed).toHaveLength(before + 3);
    const refused = await call(admin, "POST", path, body(7, ofBoth[orgId]!.id));
    expectProblem(refused, 429, "limit-reached");
    const made = listed.find(({ name, fullName = "" }: { name?: string; fullName?: string }) =>
      /^[a-z]\d$/.test(name ?? fullName.slice(2)),
    );
    expect((await call(admin, "DELETE", `${path}/${made.id}`)).status).toBe(204);
    await create(admin, path, body(8, ofBoth[orgId]!.id));
    await patch(operator, orgId, { limits: { [what]: null } });
    await create(admin, path, body(9, ofBoth[orgId]!.id));
  });

  it("lets the operator restore access to an organization at its limit of tokens", async () => {
    const { orgId } = await newOrganization();
    await patch(operator, orgId, { limits: { tokens: 1 } });
    expect((await call(operator, "POST", `/organization/${orgId}/token`)).status).toBe(201);
  });
});
