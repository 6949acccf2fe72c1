import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Route } from "../../src/api/route.ts";
import { ROUTES } from "../../src/api/routes.ts";
import type { ProblemKind } from "../../src/protocol/problem.ts";
import { create } from "../support/api.ts";
import { newFilledOrganization } from "../support/filled-organization.ts";
import { BY_RULE, provokeByRule } from "./problems/by-rule.ts";
import { BY_SHAPE, type Callers } from "./problems/by-shape.ts";

/** The problem kinds in the description, by operation (`vitest.config.ts`). */
const { TEST_PROBLEMS } = env as unknown as { TEST_PROBLEMS: Record<string, ProblemKind[]> };
const documentedAt = ({ id }: Route): ProblemKind[] => TEST_PROBLEMS[id] ?? [];

let callers: Callers;
beforeAll(async () => {
  const furnished = await newFilledOrganization();
  const { admin, agent } = furnished;
  const { token: registration } = await create(admin, "/token", { name: "r", kind: "registration" });
  const tokens = { api: admin, agent: agent.token, operator: env.OPERATOR_TOKEN ?? "", registration };
  callers = { ...furnished, tokens };
});

/** Sends a request that should raise the problem. Returns the answer, or null without such a request. */
const provoked = async (route: Route, kind: ProblemKind): Promise<string | null> => {
  const pair = `${route.id} ${kind}`;
  const answer = BY_RULE[pair] ? await provokeByRule(pair) : await BY_SHAPE[kind]?.(route, callers);
  return answer ? `${answer.status} ${answer.body?.type ?? answer.text}` : null;
};

describe("the problems in the description", () => {
  it.each(ROUTES.map((route) => [route.id, route] as const))("of %s each occur for some request", async (_, route) => {
    const missing: string[] = [];
    for (const kind of documentedAt(route)) {
      const answered = await provoked(route, kind);
      if (!answered?.endsWith(`/problems/${kind}`)) missing.push(`${kind}: ${answered}`);
    }
    expect(missing.join("; ")).toBe("");
  });

  it("include every problem that an operation's rules cause", () => {
    const documented = new Set(ROUTES.flatMap((route) => documentedAt(route).map((kind) => `${route.id} ${kind}`)));
    expect(Object.keys(BY_RULE).filter((pair) => !documented.has(pair))).toEqual([]);
  });

  it("count as missing if no request causes them", async () => {
    const route = ROUTES.find(({ id }) => id === "checkPipeline")!;
    expect(documentedAt(route)).not.toContain("limit-reached");
    for (const kind of ["limit-reached", "conflict"] as const) expect(await provoked(route, kind)).toBeNull();
    const list = ROUTES.find(({ id }) => id === "listOrganizations")!;
    expect(await provoked(list, "stale-version")).not.toContain("stale-version");
  });
});
