import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import type { GitHostObject } from "../../../src/objects/host/git-host.ts";
import type { HostKind } from "../../../src/protocol/connection.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { passTime, setClockRight } from "../../objects/host/support.ts";
import { call, expectProblem, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { databaseWithHook } from "../../support/deployment.ts";
import {
  attachRepository,
  deliver,
  eventHeaders,
  newConnection,
  newHook,
  readDeliveryNotes,
  type StoredConnection,
  send,
} from "../../support/hooks.ts";
import { newPush, SHA } from "../../support/host-events.ts";
import { counting } from "../../support/platform/platform.ts";
import { D1 } from "../../support/platform/texts.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const WAITS = "a part of the service is unavailable: the delivery waits and is processed automatically";

let admin: string;
let orgId: string;
let repoId: string;
let hook: StoredConnection;

beforeEach(async () => {
  ({ admin, orgId } = await newOrganization());
  ({ id: repoId } = await newRepository(admin, 1));
  await newPipeline(admin, repoId);
  hook = await newConnection(orgId, "github");
  await attachRepository(repoId, hook);
});
afterEach(setClockRight);

/** Creates a D1 that answers each batch with an error, and counts the batches. */
const failing = (message = `D1_ERROR: ${D1.overloaded}`) => {
  const asked = { batches: 0 };
  const DB = databaseWithHook(async () => {
    asked.batches += 1;
    throw new Error(message);
  });
  return { asked, DB };
};

const push = (sha: string, facts: Parameters<typeof newPush>[1], id: string, change: Partial<Env> = failing()) =>
  deliver(hook, eventHeaders("github", "push", id), newPush(sha, facts), { ...change });
const shas = async () =>
  (await call(admin, "GET", "/build?limit=200")).body.map(({ commitSha }: { commitSha: string }) => commitSha);
const objectOf = ({ connectionId }: StoredConnection) =>
  (env.GIT_HOST as DurableObjectNamespace<GitHostObject>).getByName(gitHostName(orgId, connectionId));
const inside = <T>(look: (object: object, state: DurableObjectState) => T | Promise<T>): Promise<T> =>
  runInDurableObject(objectOf(hook) as unknown as DurableObjectStub, (object, state) => look(object, state));
const deployed = (change: Partial<Env>) =>
  inside((object) => void Object.assign(object, { env: { ...env, ...change } }));
const alarmAt = () => inside((_, { storage }) => storage.getAlarm());
const comesBack = async (of = hook) => {
  passTime(10 * MINUTE);
  await runDurableObjectAlarm(objectOf(of));
};
const kept = async (of = hook) =>
  (await readDeliveryNotes(of)).filter(({ ignored }) => ignored === WAITS).map(({ id }) => id);
/** Adds `count` deliveries with `characters` each to the object. */
const fill = (count: number, characters: number, generation = 1) =>
  inside((_, { storage }) => {
    for (let n = 0; n < count; n++) {
      const note = { id: `f${n}`, at: Date.now(), ref: `r${n}`, arrival: { kind: "ping" } };
      const facts = JSON.stringify({ note, generation, origin: "", requestId: "" }).padEnd(characters);
      storage.sql.exec("INSERT INTO kept (id, generation, facts) VALUES (?, ?, ?)", note.id, generation, facts);
    }
  });

describe("deliveries while the database is unavailable", () => {
  const KINDS: [kind: HostKind, event: string, body: object][] = [
    ["github", "push", newPush(SHA("a"))],
    ["gitea", "push", newPush(SHA("a"))],
    [
      "gitlab",
      "Push Hook",
      {
        ...{ object_kind: "push", ref: "refs/heads/main", before: SHA("0"), after: SHA("a"), commits: [] },
        project: { id: 1, path_with_namespace: "acme/app-1", default_branch: "main" },
      },
    ],
  ];

  it.each(KINDS)("accept a push from %s, list it as waiting, and create its build later", async (kind, event, body) => {
    hook = await newConnection(orgId, kind);
    await attachRepository(repoId, hook);
    const { status, body: answer } = await deliver(hook, eventHeaders(kind, event, "d"), body, failing());
    expect({ status, answer }).toEqual({ status: 202, answer: { delivery: "d", builds: [], ignored: WAITS } });
    expect(await readDeliveryNotes(hook)).toMatchObject([
      { id: "d", ref: "refs/heads/main", builds: [], ignored: WAITS },
    ]);
    expect(await shas()).toEqual([]);
    await comesBack();
    expect(await shas()).toEqual([SHA("a")]);
    expect(await readDeliveryNotes(hook)).toMatchObject([{ id: "d", builds: [expect.any(String)], ignored: null }]);
  });

  it("are processed once and in order, however often their host sends them", async () => {
    const heads = ["1", "2", "3", "4"].map(SHA);
    for (const [n, sha] of heads.entries()) {
      const before = heads[n - 1] ?? SHA("0");
      await push(sha, { before }, `d${n}`);
      expect((await push(sha, { before }, `d${n}`)).status).toBe(202);
    }
    expect(await kept()).toEqual(["d3", "d2", "d1", "d0"]);
    await evictDurableObject(objectOf(hook));
    await comesBack();
    expect(await shas()).toEqual(heads.toReversed());
    const again = await push(heads[3]!, { before: heads[2]! }, "d3", {});
    expect(again.body.builds).toHaveLength(1);
    await comesBack();
    expect(await shas()).toHaveLength(4);
  });

  it("are processed at once when a newer push finds the database back", async () => {
    await push(SHA("1"), {}, "older");
    expect(await alarmAt()).toBeGreaterThan(Date.now());
    await push(SHA("2"), { before: SHA("1"), ref: "refs/heads/b" }, "unwanted", {});
    await expect.poll(shas).toEqual([SHA("1")]);
    expect((await readDeliveryNotes(hook)).map(({ id }) => id)).toEqual(["older", "unwanted"]);
  });

  it("cause at most three queries in a run, and none is lost", async () => {
    for (let n = 1; n <= 9; n++) await push(SHA(String(n)), { id: Math.ceil(n / 2) }, `d${n}`);
    const { asked, DB } = failing();
    await deployed({ DB });
    await comesBack();
    expect(asked.batches).toBe(3);
    expect(await kept()).toHaveLength(9);
    expect(await alarmAt()).toBeGreaterThan(Date.now());
  });

  it("are shortened to what their build needs, if they are huge", async () => {
    const files = Array.from({ length: 40_000 }, (_, n) => `folder/of/a/long/name/file-${n}.ts`);
    expect((await push(SHA("a"), { files, before: SHA("9") }, "large")).status).toBe(202);
    const [note] = await readDeliveryNotes(hook);
    expect(JSON.stringify(note).length).toBeLessThan(2_000);
    await comesBack();
    expect(await shas()).toEqual([SHA("a")]);
  });

  it("expire after four days, and can then be redelivered", async () => {
    await push(SHA("a"), {}, "d");
    passTime(4 * DAY);
    await comesBack();
    expect(await readDeliveryNotes(hook)).toMatchObject([
      { id: "d", ignored: "it waited for four days: redeliver it" },
    ]);
    expect(await shas()).toEqual([]);
    const path = `/connection/${hook.connectionId}/delivery/d/redeliver`;
    setClockRight();
    expect((await call(admin, "POST", path)).body.builds).toHaveLength(1);
  });

  it("report a service defect as usual, and keep no requests from buttons", async () => {
    expectProblem(await push(SHA("a"), {}, "d", failing("x is not a function")), 500, "internal");
    const rerun = { ...newPush(SHA("a")), action: "rerequested", check_suite: { head_sha: SHA("a"), app: { id: 5 } } };
    const pressed = await deliver(hook, eventHeaders("github", "check_suite", "p"), rerun, failing());
    expectProblem(pressed, 503, "unavailable");
    expect(await readDeliveryNotes(hook)).toEqual([]);
  });
});

describe("an attacker, while the database is unavailable", () => {
  it("can store nothing without the secret", async () => {
    const body = JSON.stringify(newPush(SHA("a")));
    const wrong = { "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` };
    for (const proof of [{}, wrong]) {
      const headers = { ...eventHeaders("github", "push"), ...proof };
      const { value: refused, asked } = await counting(() =>
        send(`/hook/${hook.token}`, { method: "POST", headers, body }, failing()),
      );
      expectProblem(refused, 401, "unauthenticated");
      expect([asked.calls, await readDeliveryNotes(hook)]).toEqual([[], []]);
    }
    const { asked } = await counting(() => push(SHA("a"), {}, "control"));
    expect([asked.calls, await kept()]).toEqual([["GIT_HOST keepDelivery"], ["control"]]);
  });

  it.each([
    ["deliveries", LIMITS.keptDeliveries - 1, 1],
    ["characters", 1, LIMITS.keptCharacters - 800],
  ])("can store no more than the limit with the secret: %s", async (_, count, characters) => {
    expect((await push(SHA("1"), {}, "first")).status).toBe(202);
    await fill(count, characters);
    expectProblem(await push(SHA("2"), { ref: "refs/heads/b" }, "second"), 503, "unavailable");
    const [oldest] = await inside((_, { storage }) => [
      ...storage.sql.exec("SELECT id, count(*) AS held FROM kept ORDER BY seq"),
    ]);
    expect(oldest).toMatchObject({ id: "first", held: count + 1 });
  });

  it("cannot block deliveries with an outdated secret, and builds nothing", async () => {
    await push(SHA("1"), {}, "old");
    await fill(LIMITS.keptDeliveries - 1, 1);
    const old = hook;
    hook = await newHook(hook, 2);
    expect((await push(SHA("2"), {}, "new")).status).toBe(202);
    await env.DB.prepare("UPDATE connection SET hook_generation = 2 WHERE id = ?").bind(hook.connectionId).run();
    const refused = await deliver(old, eventHeaders("github", "push", "old"), newPush(SHA("1")), failing());
    expectProblem(refused, 503, "unavailable");
    await comesBack();
    expect(await shas()).toEqual([SHA("2")]);
    expect((await readDeliveryNotes(hook)).map(({ id }) => id)).toEqual(["new"]);
  });

  it("leaves nothing with the secret of a deleted connection", async () => {
    await env.DB.prepare("DELETE FROM connection WHERE id = ?").bind(hook.connectionId).run();
    for (let n = 0; n < 5; n++) await push(SHA("1"), { ref: `refs/heads/b${n}` }, `d${n}`);
    let batches = 0;
    const DB = databaseWithHook(async () => {
      batches += 1;
    });
    await deployed({ DB });
    await comesBack();
    expect(batches).toBe(1);
    const tables = await inside((_, { storage }) => [
      ...storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'kept'"),
    ]);
    expect(tables).toEqual([]);
  });
});
