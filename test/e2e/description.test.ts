import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeApi } from "../../src/api/description/describe.ts";
import { EXAMPLES } from "../../src/api/description/examples.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { type Exchange, replay } from "../examples/replay.ts";
import { SCENARIO } from "../examples/scenario.ts";
import { withoutTimes } from "../examples/stable-values.ts";
import { toExamples } from "../examples/to-examples.ts";
import { answerChecker } from "../support/answer-checker.ts";
import { type ServedWorker, serveBundled } from "../support/served-worker.ts";
import { typeErrors } from "../support/typed-client.ts";

const description = describeApi(ROUTES, EXAMPLES);

/**
 * Operations that succeed only on Cloudflare, since workerd lacks point-in-time recovery, or after a git host's
 * delivery. Their examples are rejections.
 */
const ELSEWHERE_REFUSED = ["restorePool", "installConnection", "redeliverDelivery"];

const lint = async (document: object) => {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "/openapi.json", config });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
};

describe("the API description", () => {
  it("has a unique id for every route", () => {
    expect(new Set(ROUTES.map(({ id }) => id)).size).toBe(ROUTES.length);
  });

  it("has a success example for every operation", () => {
    const shown = new Set(EXAMPLES.filter(({ status }) => status < 300).map(({ operation }) => operation));
    expect(ROUTES.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual(ELSEWHERE_REFUSED);
    expect(EXAMPLES.map(({ operation }) => operation)).toEqual(expect.arrayContaining(ELSEWHERE_REFUSED));
  });

  it("has no linter findings", async () => {
    expect(await lint(description)).toEqual([]);
    expect(await lint({ ...description, servers: [] })).not.toEqual([]);
  });
});

describe("the service", () => {
  let service: ServedWorker;
  let exchanges: Exchange[];

  beforeAll(async () => {
    service = await serveBundled();
    exchanges = await replay((path, init) => fetch(service.url + path, init), service.operator.token, ROUTES, SCENARIO);
  });
  afterAll(() => service?.stop());

  it("answers every example as described", () => {
    expect(exchanges.map(({ operation, status }) => [operation, status])).toEqual(
      SCENARIO.map(({ operation, status }) => [operation, status]),
    );
    expect(withoutTimes(toExamples(exchanges))).toEqual(withoutTimes(EXAMPLES));
  });

  it("answers as the schema of each operation and status says, including headers", () => {
    const check = answerChecker(description);
    for (const { operation, status, answer, responseHeaders } of exchanges) {
      expect(check(operation, status, responseHeaders, answer), `${operation} ${status}`).toEqual([]);
    }
    const [made] = exchanges;
    const changed = { ...(made?.answer as object), createdAt: "yesterday", colour: "red" };
    expect(check("createOrganization", 201, made?.responseHeaders ?? new Headers(), changed)).toHaveLength(2);
  });

  it("answers as the generated types say", async () => {
    const shown = exchanges.find(({ operation }) => operation === "getVariable")!;
    const wrong = { ...shown, answer: { ...(shown.answer as object), key: 1 } };
    const errors = await typeErrors(description, [...exchanges, wrong]);
    // The import is on the first line.
    expect(errors).toEqual([expect.stringContaining(`answers.ts(${exchanges.length + 2},`)]);
  });
});
