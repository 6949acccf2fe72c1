import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { fails } from "../../support/platform/effects.ts";
import { newPlatform } from "../../support/platform/platform.ts";
import { D1 } from "../../support/platform/texts.ts";
import { actor, newBuild, type Pool, poolOf, registered, value } from "./support.ts";

/* Asserts invariant 13, and that no audit entry is lost (docs/security.md). */

const inD1 = async (subject: string): Promise<string[]> => {
  const query = env.DB.prepare("SELECT action FROM audit_log WHERE subject = ? ORDER BY id").bind(subject);
  return (await query.all<{ action: string }>()).results.map(({ action }) => action);
};

const rows = (pool: Pool, query: string) =>
  runInDurableObject(pool, (_, { storage }) => storage.sql.exec<Record<string, SqlStorageValue>>(query).toArray());

/** Delivers a job while D1 is unavailable. */
const delivered = async (orgId: string) => {
  const pool = poolOf(orgId);
  const speaker = await registered(pool, orgId);
  await pool.flush();
  const { end: back } = newPlatform().trouble("DB", fails(D1.storage));
  const { id } = newBuild(orgId);
  value(await pool.enqueueAll([newBuild(orgId, { id, inputs: null, secretKeys: [] })]).then(([made]) => made!));
  const { jobId, fence } = value(await pool.claim({ ...speaker, bootId: "b1" }))!;
  const environment = [{ key: "SECRET", scope: "organization", isSecret: true, version: 1 } as const];
  value(await pool.deliver({ jobId, fence, agentId: speaker.agentId, environment }));
  return { pool, id, back, holder: { ...speaker, jobId, fence } };
};

it("audit entries wait in their build's row, and need no row of their own", async () => {
  const { pool, id, back } = await delivered("audits-wait");
  expect(await rows(pool, "SELECT * FROM audit_outbox")).toEqual([]);
  const [row] = await rows(pool, "SELECT audit FROM build");
  expect(JSON.parse(String(row!.audit))).toMatchObject([
    { entry: { action: "build.create", subject: id } },
    { entry: { action: "build.deliver", subject: id, detail: { keys: ["SECRET"] } } },
  ]);
  back();
  await pool.flush();
  expect(await inD1(id)).toEqual(["build.create", "build.deliver"]);
});

it("audit entries reach D1 once, however often the object is evicted before and after", async () => {
  const { pool, id, back, holder } = await delivered("audits-evicted");
  await evictDurableObject(pool);
  back();
  await pool.flush();
  expect(await inD1(id)).toEqual(["build.create", "build.deliver"]);
  await evictDurableObject(pool);
  await pool.flush();
  expect(await inD1(id)).toEqual(["build.create", "build.deliver"]);
  value(await pool.start(holder));
  expect(await rows(pool, "SELECT audit FROM build")).toEqual([{ audit: null }]);
});

it("audit entries set no alarm when the object wakes, and are sent with the next one", async () => {
  const { pool, id, back, holder } = await delivered("audits-alarm");
  value(await pool.start(holder));
  const alarm = () => runInDurableObject(pool, (_, { storage }) => storage.getAlarm());
  const before = await alarm();
  await evictDurableObject(pool);
  value(await pool.heartbeat({ ...holder, bootId: "b1" }));
  expect(await alarm()).toBe(before);
  back();
  await runDurableObjectAlarm(pool);
  expect(await inD1(id)).toEqual(["build.create", "build.deliver"]);
});

it("audit entries continue by themselves if their build is deleted or delivered before them", async () => {
  const { pool, id, back, holder } = await delivered("audits-deleted");
  value(await pool.start(holder));
  value(await pool.finish({ ...holder, status: "succeeded", exitCode: 0 }));
  const seen = { repoId: newBuild("x").repoId, number: 1, finishedAt: null };
  value(await pool.deleteBuild({ buildId: id, deleted: "build", seen, actor }));
  expect(await rows(pool, "SELECT id FROM build")).toEqual([]);
  await evictDurableObject(pool);
  back();
  await pool.flush();
  expect(await inD1(id)).toEqual(["build.create", "build.deliver", "build.delete"]);
});

it("audit entries are kept if their build's row is damaged", async () => {
  const { pool, id, back } = await delivered("audits-damaged");
  await rows(pool, "UPDATE build SET facts = 'damaged'");
  await evictDurableObject(pool);
  expect(await pool.deadLetters(0, 10)).toMatchObject([{ what: "a row of build: 1" }]);
  await evictDurableObject(pool);
  back();
  await pool.flush();
  expect(await inD1(id)).toEqual(["build.create", "build.deliver"]);
});

it("the pool loses a lease that it granted but did not report, if it is evicted before the delivery", async () => {
  const orgId = "claim-lost";
  const pool = poolOf(orgId);
  const speaker = await registered(pool, orgId);
  const build = value(await pool.enqueue(newBuild(orgId, { inputs: null, secretKeys: [] })));
  const lost = value(await pool.claim({ ...speaker, bootId: "b1" }))!;
  await evictDurableObject(pool);
  const delivery = { jobId: lost.jobId, fence: lost.fence, agentId: speaker.agentId, environment: [] };
  expect(await pool.deliver(delivery)).toMatchObject({ ok: false, refusal: { kind: "lease-lost" } });
  expect(value(await pool.getBuild(build.id))).toMatchObject({ status: "queued", agentId: null });
  const next = value(await pool.claim({ ...speaker, bootId: "b1" }))!;
  expect(next.jobId).toBe(lost.jobId);
  expect(next.fence).toBeGreaterThan(lost.fence);
  // Control: the pool keeps a delivered lease.
  value(await pool.deliver({ ...delivery, fence: next.fence }));
  await evictDurableObject(pool);
  expect(value(await pool.claim({ ...speaker, bootId: "b1" }))).toMatchObject({ fence: next.fence });
});
