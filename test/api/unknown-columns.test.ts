import "../support/canary-columns.ts";
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../src/api/app.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { token } from "../../src/db/schema.ts";
import { type Exchange, replay } from "../examples/replay.ts";
import { SCENARIO } from "../examples/scenario.ts";
import { addCanaryColumns, CANARY } from "../support/canary-columns.ts";

describe("a column that no schema of the API has", () => {
  let exchanges: Exchange[];

  beforeAll(async () => {
    await addCanaryColumns(env.DB);
    const app = createApp();
    const send = async (path: string, init: RequestInit): Promise<Response> => {
      const context = createExecutionContext();
      const response = await app.fetch(new Request(`https://millrace.test${path}`, init), env, context);
      await waitOnExecutionContext(context);
      return response;
    };
    exchanges = await replay(send, env.OPERATOR_TOKEN ?? "", ROUTES, SCENARIO);
  });

  it("is in no answer, though the service reads it", async () => {
    expect(await drizzle(env.DB).select().from(token).limit(1)).toMatchObject([{ canary: CANARY }]);
    expect(exchanges.length).toBeGreaterThan(50);
    const leaks = exchanges.filter((exchange) => JSON.stringify(exchange).includes(CANARY));
    expect(leaks.map(({ operation }) => operation)).toEqual([]);
  });
});
