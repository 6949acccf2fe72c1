import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { busy, type Pool, poolOf, value } from "./support.ts";

const step = (name: string) => {
  const times = { startedAt: null, finishedAt: null, logOffset: null };
  return { id: null, name, status: "running" as const, exitCode: null, ...times };
};

const run = (pool: Pool, ...statements: string[]) =>
  runInDurableObject(pool, (_, { storage }) => {
    for (const statement of statements) storage.sql.exec(statement);
  });

it("goes on with a report that an earlier release stored in a table of its own", async () => {
  const pool = poolOf("reports-earlier");
  const holder = await busy(pool, "reports-earlier");
  value(await pool.progress({ ...holder, steps: [step("one")], summary: "# Done" }));
  await run(
    pool,
    "INSERT INTO report SELECT id, report FROM build",
    "ALTER TABLE build DROP COLUMN report",
    "ALTER TABLE build DROP COLUMN audit",
    "ALTER TABLE build_job DROP COLUMN report",
    "ALTER TABLE build_job DROP COLUMN audit",
  );
  await evictDurableObject(pool);
  const shown = { steps: [{ name: "one" }], summary: "# Done" };
  expect(value(await pool.getBuild(holder.jobId))).toMatchObject(shown);
  value(await pool.finish({ ...holder, status: "failed", exitCode: 1, failedLine: "Error: x" }));
  const ended = value(await pool.getBuild(holder.jobId));
  expect(ended).toMatchObject({ ...shown, failedLine: "Error: x", status: "failed" });
});
