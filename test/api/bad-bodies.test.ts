import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Route } from "../../src/api/route.ts";
import { ROUTES } from "../../src/api/routes.ts";
import type { ProblemKind } from "../../src/protocol/problem.ts";
import { call, expectProblem, newToken } from "../support/api.ts";
import { storedRows } from "../support/stored-rows.ts";
import { CANARY, furnishBoth, own, UUID } from "./bad-input/stage.ts";

beforeAll(furnishBoth);

const tokenFor = ({ verb: { access } }: Route, admin = own.admin): string => {
  if (access.operator) return env.OPERATOR_TOKEN ?? "";
  return access.role ? admin : own.agent.token;
};

const pathOf = ({ path }: Route): string => path.replace(/:\w+/g, path.startsWith("/organization") ? own.orgId : UUID);

describe("every route with a body", () => {
  const routes = ROUTES.filter(({ verb }) => verb.body);
  /** Agents' bodies may contain a newer version's fields. */
  const isLenient = ({ path, verb }: Route) => path === "/buildagent/register" || verb.access.role === undefined;

  const forms: [string, string | Uint8Array, number, ProblemKind, ((route: Route) => boolean)?][] = [
    ["empty", "", 400, "malformed-body", (route) => !route.verb.mayLackBody],
    ["blank", " \r\n\t", 400, "malformed-body", (route) => !route.verb.mayLackBody],
    ["cut short", `{"${CANARY}":`, 400, "malformed-body"],
    ["two values", `{}{"${CANARY}":1}`, 400, "malformed-body"],
    ["JSON with a comment", `{/*${CANARY}*/}`, 400, "malformed-body"],
    ["JSON with NaN", '{"a":NaN}', 400, "malformed-body"],
    ["in UTF-16", new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), 400, "malformed-body"],
    [
      "JSON with an invalid byte",
      new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
      400,
      "malformed-body",
    ],
    ["null", "null", 422, "invalid"],
    ["true", "true", 422, "invalid"],
    ["a number", "17", 422, "invalid"],
    ["a string", `"${CANARY}"`, 422, "invalid"],
    ["an array", `[{"name":"${CANARY}"}]`, 422, "invalid"],
    ["an object with __proto__", `{"__proto__":{"${CANARY}":1}}`, 422, "invalid"],
    ["an object with an unknown field", `{"${CANARY}":1}`, 422, "invalid", (route) => !isLenient(route)],
    [
      "an object with constructor",
      `{"constructor":{"prototype":"${CANARY}"}}`,
      422,
      "invalid",
      (route) => !isLenient(route),
    ],
    ["over the limit", `{"a":"${CANARY.repeat(120_000)}"}`, 413, "too-large", (route) => !route.verb.bodyBytes],
  ];

  it.each(forms)("rejects a body that is %s", async (_, body, status, kind, applies = () => true) => {
    const before = await storedRows(own.orgId);
    const fitting = routes.filter(applies);
    expect(fitting.length).toBeGreaterThan(14);
    for (const route of fitting) {
      const path = pathOf(route);
      const answer = await call(tokenFor(route), route.method, path, body, { "X-Lease": "1" });
      expectProblem(answer, status, kind);
      expect(answer.text, `${route.method} ${route.path}`).not.toContain(CANARY);
    }
    expect(await storedRows(own.orgId)).toBe(before);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "",
  ])("is refused as %s", async (type) => {
    // Each type has its own token, because a token's requests per minute are limited.
    const admin = await newToken(own.admin, "admin");
    for (const route of routes) {
      const path = pathOf(route);
      const answer = await call(tokenFor(route, admin), route.method, path, "{}", {
        "Content-Type": type,
        "X-Lease": "1",
      });
      expectProblem(answer, 415, "unsupported-media-type");
    }
  });
});
