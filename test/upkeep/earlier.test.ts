import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { logKey } from "../../src/archive/keys.ts";
import { getRecord } from "../../src/archive/records.ts";
import { buildLogName } from "../../src/domain/object-names.ts";
import { logStub } from "../support/deployment.ts";
import { writeOldRows } from "../support/old-rows.ts";
import { fails, to } from "../support/platform/effects.ts";
import { newPlatform } from "../support/platform/platform.ts";
import { OBJECT } from "../support/platform/texts.ts";
import { count, DAY_MS, failures, NOW, upkeep } from "./support.ts";

const all = async (query: string) => (await env.DB.prepare(query).all<Record<string, unknown>>()).results;
const text = new TextEncoder();

it("moves ended builds, their logs and the audit of the release before, and lists stay the same", async () => {
  const until = NOW - DAY_MS;
  const [id = "", ...others] = await writeOldRows(env.DB, { orgId: "o", until, earlierBuilds: 4, earlierAudit: 1200 });
  const writer = { fence: 7, tokenHash: "t" };
  const log = logStub("o", id);
  await log.open({ ...writer, attempt: 1, secrets: [] });
  await log.append({ ...writer, offset: 0, bytes: text.encode("one line\n"), final: true });
  const builds = await all("SELECT * FROM build_list ORDER BY id");
  const audit = await all("SELECT * FROM audit_list ORDER BY id");
  await Promise.all([upkeep(), upkeep()]);
  await upkeep();
  expect([await count("build"), await count("audit")]).toEqual([0, 0]);
  expect(await all("SELECT * FROM build_list ORDER BY id")).toEqual(builds);
  expect(await all("SELECT * FROM audit_list ORDER BY id")).toEqual(audit);
  const finishedAt = new Date(until).toISOString();
  for (const one of [id, ...others]) {
    const at = builds.find((build) => build.id === one)!.finished_at as number;
    const record = await getRecord(env.ARCHIVE, { orgId: "o", id: one, finishedAt: new Date(at).toISOString() });
    expect(record).toMatchObject({ id: one, orgId: "o", status: "succeeded", steps: [] });
  }
  const archived = await env.ARCHIVE.get(logKey(finishedAt.slice(0, 10), "o", id, 1));
  expect(await archived?.text()).toContain("one line\n");
});

it("leaves builds that have not ended, and those whose log may still be open", async () => {
  await writeOldRows(env.DB, { orgId: "live", until: NOW - 60_000, earlierBuilds: 2 });
  const under =
    "UPDATE build SET finished_at = NULL, status = 'canceling' WHERE rowid = (SELECT min(rowid) FROM build)";
  await env.DB.prepare(under).run();
  await upkeep();
  expect(await count("build", "org_id = 'live'")).toBe(2);
});

it("sets aside a log that cannot be archived, and a record that does not parse", async () => {
  const ids = await writeOldRows(env.DB, { orgId: "s", until: NOW - DAY_MS, earlierBuilds: 4 });
  await env.DB.prepare("UPDATE build SET record = ? WHERE id = ?").bind('{"summary": "hunter2', ids[1]).run();
  const failing = newPlatform().trouble("BUILD_LOG", fails(OBJECT.lost), to(buildLogName("s", ids[0]!)));
  const done = await upkeep();
  expect(done).toMatchObject({ movedBuilds: 2, failed: 2 });
  const setAside = await failures();
  expect(setAside).toMatchObject([
    {
      kind: "move",
      subject: `s/${ids[0]}`,
      tries: 1,
      next_at: NOW + 60_000,
      reason: "Error: Network connection lost.",
    },
    { kind: "move", subject: `s/${ids[1]}`, reason: "What is stored does not parse." },
  ]);
  expect(JSON.stringify(setAside)).not.toContain("hunter2");
  expect(await upkeep({}, NOW + 30_000)).toMatchObject({ failed: 0 });
  await upkeep({}, NOW + 61_000);
  failing.end();
  expect((await failures())[0]).toMatchObject({ tries: 2, next_at: NOW + 61_000 + 2 * 60_000 });
  expect(await upkeep({}, NOW + 600_000)).toMatchObject({ movedBuilds: 2, failed: 1 });
  expect(await failures()).toHaveLength(1);
});
