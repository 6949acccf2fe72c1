import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { busy, newBuild, type Pool, poolOf, registered, value } from "./support.ts";

const step = (name: string) => {
  const times = { startedAt: null, finishedAt: null, logOffset: null };
  return { id: null, name, status: "running" as const, exitCode: null, ...times };
};

const run = (pool: Pool, ...statements: string[]) =>
  runInDurableObject(pool, (_, { storage }) => {
    for (const statement of statements) storage.sql.exec(statement);
  });

it("the pool continues a report that an earlier release stored in its own table", async () => {
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

describe("a job's step reports", () => {
  const begun = async (orgId: string) => {
    const pool = poolOf(orgId);
    const speaker = await registered(pool, orgId);
    const headers = { Upgrade: "websocket", "X-Agent-Id": speaker.agentId, "X-Token-Hash": speaker.tokenHash };
    const { webSocket: socket } = await pool.fetch("https://pool/wait", { headers });
    socket!.accept();
    value(await pool.enqueue(newBuild(orgId)));
    const { jobId, fence } = value(await pool.claim({ ...speaker, bootId: null }))!;
    const holder = { ...speaker, jobId, fence };
    value(await pool.start(holder));
    const shown = async () => value(await pool.getBuild(jobId)).steps.map(({ name }) => name);
    const written = () =>
      runInDurableObject(pool, (_, { storage: { sql } }) =>
        sql.exec<{ steps: string | null }>("SELECT report ->> '$.steps' AS steps FROM build").one(),
      );
    const report = async (...names: string[]) => value(await pool.progress({ ...holder, steps: names.map(step) }));
    return { pool, socket, holder, shown, written, report };
  };

  it("stay with its agent's socket while the object hibernates, and are written at the end", async () => {
    const { pool, holder, shown, written, report } = await begun("steps-hibernate");
    await report("one");
    await report("one", "two");
    expect(await written()).toEqual({ steps: null });
    await evictDurableObject(pool, { webSockets: "hibernate" });
    expect(await shown()).toEqual(["one", "two"]);
    value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 }));
    expect((await written()).steps).toContain("two");
    expect(await shown()).toEqual(["one", "two"]);
  });

  it("are written when the socket closes, and while there is no socket", async () => {
    const { pool, socket, shown, written, report } = await begun("steps-closed");
    await report("one");
    socket!.close(1000);
    await expect.poll(async () => (await written()).steps).toContain("one");
    await report("one", "two");
    expect((await written()).steps).toContain("two");
    await evictDurableObject(pool);
    expect(await shown()).toEqual(["one", "two"]);
  });

  it("are written when a socket cannot hold them, and older ones do not return", async () => {
    const { pool, shown, written, report } = await begun("steps-many");
    await report("one");
    const many = Array.from({ length: 200 }, (_, n) => `a step with a rather long name, number ${n}`);
    await report(...many);
    expect((await written()).steps).toContain("number 199");
    await evictDurableObject(pool, { webSockets: "hibernate" });
    expect(await shown()).toEqual(many);
  });

  it("are lost in a crash until the agent reports again: the record is complete", async () => {
    const { pool, holder, report } = await begun("steps-crash");
    await report("one");
    await expect(runInDurableObject(pool, (_, state) => state.abort("a crash"))).rejects.toThrow("a crash");
    const again = poolOf("steps-crash");
    const steps = async () => value(await again.getBuild(holder.jobId)).steps.map(({ name }) => name);
    expect(await steps()).toEqual([]);
    value(await again.progress({ ...holder, steps: [step("one"), step("two")] }));
    value(await again.finish({ ...holder, status: "succeeded", exitCode: 0 }));
    expect(await steps()).toEqual(["one", "two"]);
  });
});
