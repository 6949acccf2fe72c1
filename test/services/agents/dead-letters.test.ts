import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { v7 as uuid } from "uuid";
import { beforeAll, describe, expect, it } from "vitest";
import type { DeadLetter } from "../../../src/protocol/operator.ts";
import { call, expectProblem, newOrganization } from "../../support/api.ts";
import { poolStub } from "../../support/deployment.ts";

const operator = env.OPERATOR_TOKEN ?? "";
const CANARY = `canary-${uuid()}`;

describe("dead letters", () => {
  const id = uuid();
  let orgId = "";
  let admin = "";
  beforeAll(async () => {
    ({ orgId, admin } = await newOrganization());
    await poolStub(orgId).touch();
    await runInDurableObject(poolStub(orgId), (_, { storage: { sql } }) => {
      const entry = { at: Date.now(), actor: "system", action: "agent.forget", subject: "a", requestId: null };
      const audit = { kind: "audit", id, entry: { ...entry, detail: { name: CANARY } } };
      const row = { kind: "row", table: "agent", row: { id: "a7", facts: `{"tokenHash": "${CANARY}` } };
      for (const body of [audit, row]) {
        sql.exec("INSERT INTO parked (what, reason, at) VALUES (?, 'it is too big', 0)", JSON.stringify(body));
      }
    });
  });
  const list = (query = "") => call<DeadLetter[]>(operator, "GET", `/operator/dead-letter?orgId=${orgId}${query}`);
  const retry = (body: object) => call(operator, "POST", "/operator/dead-letter/retry", body);

  it("are listed in pages, and name their subject without its content", async () => {
    const { body, text } = await list();
    expect(body).toMatchObject([
      { what: "audit agent.forget of a", reason: "it is too big", at: "1970-01-01T00:00:00.000Z" },
      { what: "a row of agent: a7" },
    ]);
    expect(text).not.toContain(CANARY);
    const first = await list("&limit=1");
    expect(first.body).toEqual(body.slice(0, 1));
    const next = /[?&]cursor=([^&>]+)/.exec(first.headers.get("Link") ?? "")?.[1];
    expect((await list(`&limit=1&cursor=${next}`)).body).toEqual(body.slice(1));
  });

  it("require the operator's token and an existing organization", async () => {
    expectProblem(await call(admin, "GET", `/operator/dead-letter?orgId=${orgId}`), 403, "forbidden");
    expectProblem(await call(admin, "POST", "/operator/dead-letter/retry", { orgId }), 403, "forbidden");
    expectProblem(await call(operator, "GET", "/operator/dead-letter?orgId=nobody"), 404, "not-found");
    expectProblem(await retry({ orgId: "nobody" }), 404, "not-found");
    for (const query of ["", "?orgId=..", `?orgId=${orgId}&cursor=x`, `?orgId=${orgId}&limit=0`]) {
      expectProblem(await call(operator, "GET", `/operator/dead-letter${query}`), 422, "invalid");
    }
    for (const seqs of [["1"], [0], [1.5], Array(201).fill(1), "all"]) {
      expectProblem(await retry({ orgId, seqs }), 422, "invalid");
    }
  });

  it("are retried: what can be delivered leaves, what cannot be read stays, and the audit records it", async () => {
    expect((await retry({ orgId, seqs: [99] })).body).toEqual({ retried: 0 });
    const { body, text } = await retry({ orgId });
    expect(body).toEqual({ retried: 1 });
    expect(text).not.toContain(CANARY);
    await poolStub(orgId).flush();
    expect((await list()).body).toMatchObject([{ what: "a row of agent: a7" }]);
    const audit = (await call(admin, "GET", "/audit")).body;
    expect(audit).toContainEqual(expect.objectContaining({ action: "agent.forget", subject: "a" }));
    expect(audit).toContainEqual(
      expect.objectContaining({
        actor: "operator",
        action: "dead-letter.retry",
        subject: orgId,
        detail: { seqs: [1, 2] },
      }),
    );
  });
});
