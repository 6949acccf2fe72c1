import "../support/canary-columns.ts";
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../src/api/app.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { getRecord, putRecord } from "../../src/archive/records.ts";
import { auditLog, buildSummary, organization } from "../../src/db/schema.ts";
import { type Exchange, replay } from "../examples/replay.ts";
import { SCENARIO } from "../examples/scenario.ts";
import { newOrganization } from "../support/api.ts";
import { addCanaryColumns, CANARY } from "../support/canary-columns.ts";
import { writeSummary } from "../support/summary-row.ts";

const app = createApp();
const send = async (path: string, init: RequestInit): Promise<Response> => {
  const context = createExecutionContext();
  const response = await app.fetch(new Request(`https://millrace.test${path}`, init), env, context);
  await waitOnExecutionContext(context);
  return response;
};

beforeAll(() => addCanaryColumns(env.DB));

describe("a column outside the API's schemas", () => {
  let exchanges: Exchange[];

  beforeAll(async () => {
    exchanges = await replay(send, env.OPERATOR_TOKEN ?? "", ROUTES, SCENARIO);
  });

  it("is in no answer, although the service reads it", async () => {
    for (const source of [organization, auditLog]) {
      expect(await drizzle(env.DB).select().from(source).limit(1)).toMatchObject([{ canary: CANARY }]);
    }
    expect(exchanges.length).toBeGreaterThan(50);
    const leaks = exchanges.filter((exchange) => JSON.stringify(exchange).includes(CANARY));
    expect(leaks.map(({ operation }) => operation)).toEqual([]);
  });
});

describe("a field of an ended build's row or record outside the API's schemas", () => {
  it("is in no answer about the build", async () => {
    const { orgId, admin } = await newOrganization();
    const row = await writeSummary(orgId);
    const Authorization = `Bearer ${admin}`;
    const get = async (path: string) => (await send(path, { headers: { Authorization } })).text();
    const [listed] = JSON.parse(await get("/build"));
    const { finishedAt } = listed;
    const record = { ...listed, summary: "archived", requires: { labels: [CANARY] }, canary: CANARY };
    await putRecord(env.ARCHIVE, record);
    expect(await drizzle(env.DB).select().from(buildSummary).where(eq(buildSummary.id, row.id))).toMatchObject([
      { canary: CANARY },
    ]);
    expect(await getRecord(env.ARCHIVE, { orgId, id: row.id, finishedAt })).toMatchObject({ canary: CANARY });
    const answers = await Promise.all(
      [`/build/${row.id}`, "/build", `/organization/${orgId}/export?noun=build`].map(get),
    );
    expect(answers[0]).toContain('"summary":"archived"');
    for (const answer of answers) {
      expect(answer).toContain(row.id);
      expect(answer).not.toContain(CANARY);
    }
  });
});
