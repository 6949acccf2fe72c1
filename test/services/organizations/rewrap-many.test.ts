import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import type { Rewrapped, SealedCounts } from "../../../src/protocol/operator.ts";
import { create } from "../../support/api.ts";
import { type BuildSetup, newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import { callDeployedWith, databaseWithHook, poolStub, redeploy } from "../../support/deployment.ts";
import { fakeObjects } from "../../support/objects-by-name.ts";
import { counting } from "../../support/platform/platform.ts";

const OLD = env.SECRETS_KEYS ?? "";
const BOTH = `s2:${btoa("the second key of tests, 32 byte")},${OLD}`;
const operator = env.OPERATOR_TOKEN ?? "";
/** Organizations behind each real one. Their pools are empty; the tests count the requests to them. */
const BEHIND = 400;

let real: BuildSetup[];
/** Calls to empty pools. */
let emptyCalls = 0;

const poolsOf = (): Env["AGENT_POOL"] =>
  new Proxy(env.AGENT_POOL as Env["AGENT_POOL"], {
    get(target, name) {
      if (name !== "getByName") return Reflect.get(target, name);
      const empty = async <T>(nothing: T): Promise<T> => {
        emptyCalls += 1;
        return nothing;
      };
      const others = fakeObjects<Env["AGENT_POOL"]>(() => ({
        sealedInputs: () => empty({}),
        handedOutBuilds: () => empty([]),
        rewrapInputs: () => empty({ rewrapped: 0, unopenable: [] }),
      }));
      return (orgId: string) => (real.some((one) => one.orgId === orgId) ? target : others).getByName(orgId);
    },
  });

const moved = callDeployedWith({
  SECRETS_KEYS: BOTH,
  AGENT_POOL: new Proxy({} as Env["AGENT_POOL"], { get: (_, name) => Reflect.get(poolsOf(), name) }),
});

const oldInputs = async (): Promise<number[]> =>
  Promise.all(real.map(async ({ orgId }) => (await poolStub(orgId).sealedInputs()).s1 ?? 0));

/** Triggers a build with values sealed by the old key, as in a copy of the service from before the rotation. */
const sealOld = async ({ admin, pipeline }: BuildSetup) =>
  triggerBuild(admin, pipeline.id, { envVariables: { A: "1" } });

beforeEach(async () => {
  await env.DB.exec("DELETE FROM organization");
  await env.DB.exec("DELETE FROM upkeep_failure");
  real = [await newBuildSetup(), await newBuildSetup(), await newBuildSetup()];
  real.sort((one, other) => (one.orgId < other.orgId ? -1 : 1));
  const ids = real.flatMap(({ orgId }) => Array.from({ length: BEHIND }, (_, n) => `${orgId}-${n + 1000}`));
  await env.DB.prepare("INSERT INTO organization (id, name, created_at) SELECT value, value, '' FROM json_each(?)")
    .bind(JSON.stringify(ids))
    .run();
  for (const setup of real) {
    await sealOld(setup);
    await sealOld(setup);
    await redeploy(poolStub(setup.orgId), { SECRETS_KEYS: BOTH });
  }
});

/** Makes one call. Checks its limits on requests, which hold for any number of organizations. */
const one = async <T>(method: "GET" | "POST", body?: object, query = ""): Promise<T> => {
  emptyCalls = 0;
  const { value: answer, asked } = await counting(() => moved(operator, method, `/operator/rewrap${query}`, body));
  expect(answer.status, answer.text).toBe(200);
  expect(asked.calls.length + emptyCalls).toBeLessThanOrEqual(1000);
  expect(asked.rounds).toBeLessThanOrEqual(20);
  return answer.body;
};

/** Calls until the rotation is complete, like a client that does not know about rounds. */
const untilComplete = async (between: (calls: number) => Promise<unknown> = async () => {}, limit = 200) => {
  for (let calls = 1; ; calls++) {
    const { isComplete, after } = await one<Rewrapped>("POST", { limit });
    if (isComplete) return { calls, after };
    expect(calls).toBeLessThan(30);
    await between(calls);
  }
};

it("a rotation of 1,203 organizations ends, with at most 1,000 requests to objects in a call", async () => {
  expect(await oldInputs()).toEqual([2, 2, 2]);
  // One round seals, and the next finds nothing left to seal.
  expect(await untilComplete()).toEqual({ calls: 6, after: null });
  expect(await oldInputs()).toEqual([0, 0, 0]);
  // Another rotation: one round, which finds nothing.
  expect(await untilComplete()).toEqual({ calls: 3, after: null });
});

it("a rotation of one value at a time reaches all organizations too", async () => {
  await untilComplete(undefined, 1);
  expect(await oldInputs()).toEqual([0, 0, 0]);
});

it("a rotation's count comes in pages, and no page claims that everything is complete", async () => {
  const pages: SealedCounts[] = [];
  for (let after: string | null = ""; after !== null; after = pages.at(-1)!.after)
    pages.push(await one<SealedCounts>("GET", undefined, after && `?after=${after}`));
  expect(pages.map(({ isComplete }) => isComplete)).toEqual([false, false, false]);
  expect(pages.reduce((sum, { byKeyId }) => sum + (byKeyId.s1?.inputs ?? 0), 0)).toBe(6);
});

it("a rotation finds values that the old key seals during a round before it reports completion", async () => {
  await untilComplete(async (calls) => {
    if (calls > 1) return;
    const [first] = real as [BuildSetup];
    expect(await oldInputs()).toEqual([0, 0, 2]);
    await redeploy(poolStub(first.orgId), { SECRETS_KEYS: OLD });
    await sealOld(first);
    await redeploy(poolStub(first.orgId), { SECRETS_KEYS: BOTH });
    const variable = { key: "K", value: "v", isSecret: true, scope: "organization", orgId: first.orgId };
    await create(first.admin, "/secrets/variables", variable);
    const added = await newBuildSetup();
    await sealOld(added);
    await redeploy(poolStub(added.orgId), { SECRETS_KEYS: BOTH });
    real.push(added);
    expect(await oldInputs()).toEqual([1, 0, 2, 1]);
  });
  expect(await oldInputs()).toEqual([0, 0, 0, 0]);
  const { results } = await env.DB.prepare("SELECT sealed FROM variable").all<{ sealed: string }>();
  expect(results.map(({ sealed }) => sealed.includes("s2"))).toEqual([true]);
});

it("a rotation repeats a call that died before it stored its progress", async () => {
  let deaths = 0;
  const dying = callDeployedWith({
    SECRETS_KEYS: BOTH,
    AGENT_POOL: poolsOf(),
    DB: databaseWithHook(async () => {
      // The second-to-last round trip, just before the counts.
      if (emptyCalls > 780 && deaths++ === 0) throw new Error("D1_ERROR: Network connection lost.");
    }),
  });
  emptyCalls = 0;
  expect((await dying(operator, "POST", "/operator/rewrap", {})).status).toBeGreaterThanOrEqual(500);
  expect(deaths).toBe(1);
  await untilComplete();
  expect(await oldInputs()).toEqual([0, 0, 0]);
});

it("a rotation by two operators at once skips no organization", async () => {
  for (let calls = 0; calls < 30; calls++) {
    const answers = await Promise.all([1, 2].map(() => moved(operator, "POST", "/operator/rewrap", { limit: 3 })));
    if (answers.some(({ body }) => body.isComplete)) break;
  }
  expect(await oldInputs()).toEqual([0, 0, 0]);
});

it("a rotation does not continue a round that another key began", async () => {
  await one("POST", {});
  const back = callDeployedWith({ SECRETS_KEYS: `${OLD},${BOTH.split(",")[0]}`, AGENT_POOL: poolsOf() });
  for (const { orgId } of real) await redeploy(poolStub(orgId), { SECRETS_KEYS: `${OLD},${BOTH.split(",")[0]}` });
  let body: Rewrapped;
  do ({ body } = await back<Rewrapped>(operator, "POST", "/operator/rewrap", {}));
  while (!body.isComplete);
  expect(await oldInputs()).toEqual([2, 2, 2]);
});
