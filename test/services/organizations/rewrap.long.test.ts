import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { busy, value } from "../../objects/pool/support.ts";
import { newOrganization } from "../../support/api.ts";
import { callDeployedWith, poolStub } from "../../support/deployment.ts";

/** Together they exceed what one call to an object may carry: each character is two bytes. */
const [BUILDS, SUMMARY] = [300, "€".repeat(LIMITS.summaryCharacters)];

it("a rotation counts sealed values while 300 builds with long summaries run", async () => {
  const { orgId } = await newOrganization();
  const pool = poolStub(orgId);
  const running = new Set<string>();
  for (let n = 0; n < BUILDS; n += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const holder = await busy(pool, orgId, { inputs: null });
        value(await pool.progress({ ...holder, summary: SUMMARY }));
        running.add(holder.jobId);
      }),
    );
  }
  const { status, text } = await callDeployedWith({})(env.OPERATOR_TOKEN ?? "", "GET", "/operator/rewrap");
  expect(status, text).toBe(200);
  expect(new Set(await pool.handedOutBuilds())).toEqual(running);
});
