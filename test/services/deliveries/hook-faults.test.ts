import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { passTime, setClockRight } from "../../objects/host/support.ts";
import { call, expectProblem, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import { databaseWithHook } from "../../support/deployment.ts";
import {
  attachRepository,
  deliver,
  eventHeaders,
  newConnection,
  readDeliveryNotes,
  type StoredConnection,
} from "../../support/hooks.ts";
import { hostTime, newPull, newPush, SHA } from "../../support/host-events.ts";
import { counting } from "../../support/platform/platform.ts";

let admin: string;
let orgId: string;
let repository: Repository;
let hook: StoredConnection;

beforeEach(async () => {
  ({ admin, orgId } = await newOrganization());
  repository = await newRepository(admin, 1);
  await newPipeline(admin, repository.id);
  hook = await newConnection(orgId, "github");
  await attachRepository(repository.id, hook);
});

afterEach(setClockRight);

const WAITS = "a part of the service is unavailable: the delivery waits and is processed automatically";
/** Runs the alarm of the connection's object a minute later. */
const takeWaiting = async () => {
  passTime(60_000);
  await runDurableObjectAlarm(env.GIT_HOST.getByName(gitHostName(orgId, hook.connectionId)));
};

const send = (event: string, body: object, change: Partial<Env> = {}, delivery?: string) =>
  deliver(hook, eventHeaders("github", event, delivery), body, change);
const activeBuilds = async (): Promise<{ id: string; commitSha: string }[]> =>
  (await call(admin, "GET", "/build?status=queued&limit=200")).body;
const openPulls = async () =>
  (await env.DB.prepare("SELECT * FROM open_pull WHERE repo_id = ?").bind(repository.id).all()).results;

const without = (name: "DB" | "AGENT_POOL" | "GIT_HOST"): Partial<Env> => {
  const fail = () => {
    throw new Error("D1_ERROR: away");
  };
  return { [name]: name === "DB" ? databaseWithHook(async () => fail()) : { getByName: fail } };
};

describe("the requests that a delivery causes", () => {
  /** Counts a delivery's requests, except the last call, which notes the delivery. */
  const costOf = async (event: string, body: object) => {
    await send("ping", {});
    const { value: answer, asked } = await counting(() => send(event, body));
    const { status, headers, text } = answer;
    expect(status, text).toBe(202);
    expect(headers.get("Server-Timing")).toContain(`rounds=${asked.rounds} `);
    expect(asked.calls.at(-1)).toBe("GIT_HOST noteDelivery");
    return { rounds: asked.rounds, calls: asked.calls.slice(0, -1) };
  };

  it("are one batch and one call for a push that builds, and for a deleted ref", async () => {
    const one = { rounds: 1, calls: ["AGENT_POOL arrive"] };
    expect(await costOf("push", newPush(SHA("a")))).toEqual(one);
    await send("pull_request", newPull("opened", SHA("b")));
    expect(await costOf("push", newPush(null, { ref: "refs/heads/topic", before: SHA("b") }))).toEqual(one);
  });

  it("are one batch and no call where no build starts or ends", async () => {
    const none = { rounds: 1, calls: [] };
    expect(await costOf("push", newPush(SHA("a"), { ref: "refs/heads/topic" }))).toEqual(none);
    expect(await costOf("push", newPush(SHA("a"), { id: 99 }))).toEqual(none);
    expect(await costOf("push", newPush(SHA("a"), { ref: "refs/tags/v1" }))).toEqual(none);
    expect(await costOf("star", {})).toEqual(none);
  });

  it("are one more batch for a pull request's row, a rename or a skip marker", async () => {
    const two = { rounds: 2, calls: ["AGENT_POOL arrive"] };
    expect(await costOf("pull_request", newPull("opened", SHA("a")))).toEqual(two);
    expect(await costOf("push", newPush(SHA("b"), { fullName: "acme/renamed" }))).toEqual(two);
    const skipped = { before: SHA("b"), message: "[skip ci] x", fullName: "acme/renamed" };
    expect(await costOf("push", newPush(SHA("c"), skipped))).toEqual({ rounds: 2, calls: [] });
  });
});

describe("a repeated delivery", () => {
  it("creates one build, however often and concurrently it arrives", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => send("push", newPush(SHA("a"), { before: SHA("b") }), {}, "the-same")),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const ids = new Set(answers.flatMap(({ body }) => body.builds));
    expect(ids.size).toBe(1);
    expect((await activeBuilds()).map(({ id }) => id)).toEqual([...ids]);
  });

  it("creates one build for a push under two delivery ids", async () => {
    const [one, two] = [await send("push", newPush(SHA("a"))), await send("push", newPush(SHA("a")))];
    expect(two.body.builds).toEqual(one.body.builds);
    expect(await activeBuilds()).toHaveLength(1);
  });
});

describe("an outage", () => {
  it.each(["DB", "AGENT_POOL"] as const)(
    "of %s makes a delivery wait, and create one build when its host or the service retries",
    async (part) => {
      const body = newPull("opened", SHA("a"));
      const { status, body: answer } = await send("pull_request", body, without(part), "d");
      expect({ status, answer }).toEqual({ status: 202, answer: { delivery: "d", builds: [], ignored: WAITS } });
      expect([await activeBuilds(), await openPulls()]).toEqual([[], []]);
      expect(await readDeliveryNotes(hook)).toMatchObject([{ id: "d", ignored: WAITS }]);
      expect((await send("pull_request", body, {}, "d")).body.builds).toHaveLength(1);
      await takeWaiting();
      expect(await activeBuilds()).toHaveLength(1);
      expect(await openPulls()).toHaveLength(1);
    },
  );

  it("of every part that could process or keep a delivery rejects it temporarily", async () => {
    const refused = await send("push", newPush(SHA("a")), { ...without("DB"), ...without("GIT_HOST") });
    expectProblem(refused, 503, "unavailable");
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect([await activeBuilds(), await readDeliveryNotes(hook)]).toEqual([[], []]);
  });

  it("of GIT_HOST leaves deliveries out of the list only", async () => {
    const { status, body } = await send("push", newPush(SHA("a")), without("GIT_HOST"));
    expect({ status, count: body.builds.length }).toEqual({ status: 202, count: 1 });
    expect(await readDeliveryNotes(hook)).toEqual([]);
  });

  it("between the pool and the database loses and duplicates no build", async () => {
    let batches = 0;
    const DB = databaseWithHook(async () => {
      if (++batches === 2) throw new Error("D1_ERROR: away");
    });
    const body = newPull("opened", SHA("a"));
    expect((await send("pull_request", body, { DB }, "d")).body.ignored).toBe(WAITS);
    expect(batches).toBe(2);
    const [build] = await activeBuilds();
    expect(build).toMatchObject({ commitSha: SHA("a") });
    expect(await openPulls()).toEqual([]);
    await takeWaiting();
    expect(await readDeliveryNotes(hook)).toMatchObject([{ id: "d", builds: [build!.id], ignored: null }]);
    expect(await openPulls()).toHaveLength(1);
    expect(await activeBuilds()).toHaveLength(1);
  });
});

describe("a newer head", () => {
  it("ends the older build of its pull request, and a deleted branch ends the last one", async () => {
    await send("pull_request", newPull("opened", SHA("1")));
    const moved = { before: SHA("1"), updatedAt: hostTime(1) };
    const [older] = await activeBuilds();
    const { body } = await send("pull_request", newPull("synchronize", SHA("2"), moved));
    expect(await activeBuilds()).toMatchObject([{ id: body.builds[0], commitSha: SHA("2") }]);
    expect((await call(admin, "GET", `/build/${older!.id}`)).body).toMatchObject({
      ...{ status: "canceled", reason: "superseded", supersededBy: body.builds[0] },
    });
    const closed = newPull("closed", SHA("2"), { updatedAt: hostTime(2) });
    expect((await send("pull_request", closed)).body.ignored).toBe("the pull request was closed");
    expect(await activeBuilds()).toEqual([]);
  });

  it("that arrived first is the one that counts", async () => {
    await send("push", newPush(SHA("2"), { before: SHA("1") }));
    const late = await send("push", newPush(SHA("1"), { before: SHA("0") }));
    expect(late.body).toMatchObject({ builds: [], ignored: "a newer head of the ref arrived first" });
    expect((await activeBuilds()).map(({ commitSha }) => commitSha)).toEqual([SHA("2")]);
  });
});

describe("a changed body with a valid signature", () => {
  it("is answered, and builds only a repository that it names", async () => {
    const other = await newRepository(admin, 2);
    await newPipeline(admin, other.id);
    await attachRepository(other.id, await newConnection(orgId, "github"));
    const { admin: stranger, orgId: strangers } = await newOrganization();
    const foreign = await newRepository(stranger, 1);
    await newPipeline(stranger, foreign.id);
    await attachRepository(foreign.id, await newConnection(strangers, "github"));
    const bodies = [newPush(SHA("a")), newPull("opened", SHA("b"))].map((body) =>
      new TextEncoder().encode(JSON.stringify(body)),
    );
    const changes = fc.array(fc.record({ at: fc.nat(), byte: fc.nat(255) }), { minLength: 1, maxLength: 6 });
    const events = fc.constantFrom(["push", 0], ["pull_request", 1], ["repository", 0], ["push", 1]);
    const seen = new Set<number>();
    // A later change may end each build, so the number of active ones says nothing.
    let created = 0;
    await fc.assert(
      fc.asyncProperty(changes, events, async (flips, [event, which]) => {
        const bytes = new Uint8Array(bodies[which as number]!);
        for (const { at, byte } of flips) bytes[at % bytes.length] = byte;
        const { status, body } = await send(event as string, bytes);
        seen.add(status);
        expect([202, 400]).toContain(status);
        for (const id of status === 202 ? body.builds : []) {
          created += 1;
          const { body: build } = await call(admin, "GET", `/build/${id}`);
          expect(build.repoId).toBe(repository.id);
        }
      }),
      { numRuns: 300 },
    );
    expect(seen).toEqual(new Set([202, 400]));
    expect((await call(stranger, "GET", "/build")).body).toEqual([]);
    expect(created).toBeGreaterThan(0);
    expect((await call(admin, "GET", `/build?repoId=${other.id}`)).body).toEqual([]);
  });
});
