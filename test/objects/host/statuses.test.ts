import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { HostReport } from "../../../src/githosts/core/host-report.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import { newConnection, passTime, reportOf, SHA, sealedToken, setClockRight } from "./support.ts";

afterEach(setClockRight);

const ended = (over: Partial<HostReport> = {}): HostReport =>
  reportOf({ version: 5, state: "success", description: "Succeeded in 3 min 12 s", ...over });

const words = (bodies: Record<string, unknown>[]): string[] =>
  bodies.map((body) => `${body.context ?? body.name} ${body.state}`);

const furnished = async (kind: "github" | "gitlab" | "gitea") => {
  passTime(0);
  const at = await newHost({ kind });
  const connection = await newConnection(kind, at.webUrl);
  const { host } = connection;
  const posted = async () => (await at.seen()).statuses.map(({ body }) => body);
  const later = async (milliseconds = 2_000) => {
    passTime(milliseconds);
    return runDurableObjectAlarm(host);
  };
  return { ...connection, at, posted, later };
};

describe.each(["github", "gitlab", "gitea"] as const)("the object of a connection to %s", (kind) => {
  it("reports a build in three requests that the host's own description allows", async () => {
    const { host, at, posted, later } = await furnished(kind);
    await host.report([reportOf()]);
    await later();
    expect(words(await posted())).toEqual(["millrace/test pending"]);
    await host.report([ended()]);
    await later();
    expect(words(await posted()).slice(1)).toEqual(["millrace/test success", "millrace success"]);
    const { requests } = await at.seen();
    expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
    expect((await posted())[1]).toMatchObject({
      target_url: "https://ci.example/app/builds/build-1",
      description: "Succeeded in 3 min 12 s",
    });
    expect(await later()).toBe(false);
    expect(await host.health()).toEqual({ waiting: 0, waitingSince: null, trouble: null, givenUp: [] });
  });

  it("writes few rows, and the token into no row and no log", async () => {
    const { host, later } = await furnished(kind);
    const logged = vi.spyOn(console, "error");
    const rows = () =>
      runInDurableObject(host, (_object, { storage }) => {
        const text = ["commits", "meta"].flatMap((table) => [...storage.sql.exec(`SELECT * FROM ${table}`).raw()]);
        return JSON.stringify(text);
      });
    await host.report([reportOf()]);
    await later();
    await host.report([ended()]);
    await later();
    const stored = await rows();
    expect(stored).toContain("millrace/test");
    expect(stored).not.toContain(HOST_TOKEN);
    expect(JSON.stringify(logged.mock.calls)).not.toContain(HOST_TOKEN);
  });
});

describe("a build", () => {
  it("that ends at once is reported once", async () => {
    const { host, posted, later } = await furnished("github");
    await host.report([reportOf()]);
    await host.report([ended({ state: "failure" })]);
    await later();
    expect(words(await posted())).toEqual(["millrace/test failure", "millrace failure"]);
  });

  it("is reported in GitLab's words, on its ref and in the pipeline of the first answer", async () => {
    const { host, posted, later } = await furnished("gitlab");
    await host.report([reportOf()]);
    await later();
    await host.report([ended({ state: "error", ended: "canceled" })]);
    await later();
    const [first, second] = await posted();
    expect(first).toMatchObject({ ref: "trunk", name: "millrace/test" });
    expect(first).not.toHaveProperty("pipeline_id");
    expect(second).toMatchObject({ ref: "trunk", state: "canceled", pipeline_id: expect.any(Number) });
  });

  it("has its own pipeline at GitLab for each ref of a commit, and each one ends", async () => {
    const { host, at, later } = await furnished("gitlab");
    const other = { buildId: "build-2", number: 2, ref: "feature" };
    await host.report([reportOf()]);
    await later();
    await host.report([reportOf(other)]);
    await later();
    await host.report([ended(), ended({ ...other, state: "failure" })]);
    await later();
    const { jobs } = await at.seen();
    expect(jobs.map(({ ref, name, status }) => `${ref}: ${name} ${status}`)).toEqual([
      ...["trunk: millrace/test success", "feature: millrace/test failed"],
      ...["trunk: millrace success", "feature: millrace failed"],
    ]);
    expect(new Set(jobs.map(({ ref, pipeline }) => `${ref} ${pipeline}`)).size).toBe(2);
    expect(await host.health()).toMatchObject({ waiting: 0, givenUp: [] });
    expect((await host.statuses(41, SHA)).map(({ buildId }) => buildId)).toEqual([
      "build-2",
      "build-2",
      "build-1",
      "build-1",
    ]);
  });

  it("ends without a ref if an earlier release began it without one", async () => {
    const { host, at, posted, later } = await furnished("gitlab");
    const { ref: _, ...before } = reportOf();
    await host.report([before]);
    await later();
    await runInDurableObject(host, (_object, { storage }) => {
      storage.sql.exec("DELETE FROM meta WHERE key = 'kind'");
    });
    await evictDurableObject(host);
    await host.report([ended()]);
    await later();
    expect((await posted()).map((body) => body.ref)).toEqual([undefined, undefined, undefined]);
    expect((await at.seen()).jobs.map(({ name, status }) => `${name} ${status}`)).toEqual([
      ...["millrace/test success", "millrace success"],
    ]);
    await host.report([ended({ buildId: "build-2", number: 2 })]);
    await later();
    expect((await posted()).slice(3).map((body) => body.ref)).toEqual(["trunk", "trunk"]);
  });

  it.each(["github", "gitea"] as const)("of a second ref replaces the first at %s", async (kind) => {
    const { host, posted, later } = await furnished(kind);
    await host.report([reportOf(), ended({ buildId: "build-2", number: 2, ref: "feature" })]);
    await later();
    await host.report([ended({ state: "failure" })]);
    await later();
    expect(words(await posted())).toEqual(["millrace/test success", "millrace success"]);
  });

  it("costs no request if nothing new is reported", async () => {
    const { host, posted, later } = await furnished("gitea");
    await host.report([ended()]);
    await later();
    const before = await posted();
    await host.report([ended(), reportOf(), reportOf({ version: 9 })]);
    await evictDurableObject(host);
    await host.report([reportOf({ version: 2 })]);
    await later();
    expect(await posted()).toEqual(before);
  });
});

describe("a commit with omitted pipelines", () => {
  const left = { repoId: 41, fullName: "acme/shop", sha: SHA, ref: "trunk", origin: "https://ci.example" };

  it.each(["github", "gitlab", "gitea"] as const)("has an error at %s until all of it has a build", async (kind) => {
    const { host, posted, later } = await furnished(kind);
    await host.report([reportOf()]);
    await host.leaveOut({ ...left, contexts: ["millrace/test", "millrace/a", "millrace/b"] });
    await later();
    await host.report([ended()]);
    await evictDurableObject(host);
    await later();
    const failed = kind === "gitlab" ? "failed" : "error";
    expect(words(await posted()).filter((word) => word.startsWith("millrace "))).toEqual([`millrace ${failed}`]);
    expect((await posted()).find((body) => (body.context ?? body.name) === "millrace")).toMatchObject({
      description: "2 pipelines left out that may match",
    });
    await host.leaveOut({ ...left, contexts: ["millrace/a"] });
    await host.report([ended({ buildId: "build-2", number: 2, context: "millrace/a" })]);
    await later();
    expect(words(await posted()).at(-1)).toBe("millrace/a success");
    await host.report([ended({ buildId: "build-3", number: 3, context: "millrace/b" })]);
    await later();
    expect(words(await posted()).slice(-2)).toEqual(["millrace/b success", "millrace success"]);
  });

  it("has an error if none of it has a build, or if all existing builds were unnecessary", async () => {
    const { host, posted, later } = await furnished("gitea");
    await host.leaveOut({ ...left, contexts: ["millrace/a"] });
    await later();
    expect(await posted()).toMatchObject([
      { context: "millrace", state: "error", description: "1 pipeline left out that may match" },
    ]);
    expect((await posted())[0]).not.toHaveProperty("target_url");
    await host.report([ended({ ended: "skipped" })]);
    await later();
    expect(words(await posted())).toEqual(["millrace error", "millrace/test success"]);
  });

  it("has an error if it has more contexts than are kept", async () => {
    const { host, later } = await furnished("gitea");
    const builds = Array.from({ length: 1_001 }, (_, n) =>
      ended({ buildId: `build-${n}`, number: n, context: `millrace/${n}` }),
    );
    await host.report(builds);
    expect(await host.statuses(41, SHA)).toHaveLength(1_001);
    expect((await host.statuses(41, SHA)).at(-1)).toMatchObject({ context: "millrace", state: "error" });
    await host.destroy();
    await later();
  });
});

describe("pending states", () => {
  const DAY = 24 * 60 * 60_000;
  const sha = (n: number) => n.toString(16).padStart(40, "0");

  it("are reported as one state of the commit after a day, unless the host shows progress", async () => {
    const { host, posted, later } = await furnished("gitea");
    await host.report([reportOf({ buildId: "told", number: 1, sha: sha(1) })]);
    await later();
    await host.report([ended({ buildId: "told", number: 1, sha: sha(1) })]);
    passTime(1);
    const contexts = ["millrace/a", "millrace/b", "millrace/c"];
    await host.report(contexts.map((context, n) => ended({ buildId: context, number: n + 2, sha: sha(2), context })));
    passTime(DAY);
    await host.report([ended({ buildId: "fresh", number: 9, sha: sha(3), state: "failure" })]);
    await later();
    expect(words(await posted())).toEqual([
      ...["millrace/test pending", "millrace/test failure", "millrace failure"],
      ...["millrace success", "millrace/test success", "millrace success"],
    ]);
    expect((await host.statuses(41, sha(2))).map(({ givenUp }) => givenUp?.reason)).toEqual([
      ...Array(3).fill("It waited for a day: the service reports the state of the whole commit instead."),
      undefined,
    ]);
    expect(await host.health()).toMatchObject({ waiting: 0 });
  });

  it("are dropped from reports and memory after three days", async () => {
    const { host, posted, later } = await furnished("gitea");
    await host.report([ended()]);
    passTime(3 * DAY);
    await later();
    expect(await posted()).toEqual([]);
    const { waiting, givenUp } = await host.health();
    expect(waiting).toBe(0);
    expect(givenUp.map((one) => one.givenUp?.reason)).toEqual(Array(2).fill("It waited for three days."));
  });

  it("take at most the newest 20,000 lines of memory, including those of an earlier release", async () => {
    const { host, at } = await furnished("gitea");
    await host.report([ended({ sha: sha(0) })]);
    await runInDurableObject(host, (_object, { storage: { sql } }) => {
      const row = sql.exec<{ at: number; facts: string }>("SELECT at, facts FROM commits").one();
      const facts = JSON.parse(row.facts);
      for (let n = 1; n <= 500; n++) {
        const own = Array.from({ length: 49 }, (_, k) => ({ ...facts.own[0], context: `millrace/${k}` }));
        const text = JSON.stringify({ ...facts, sha: sha(n), own });
        sql.exec("INSERT INTO commits VALUES (41, ?, 1, ?, NULL, ?)", sha(n), row.at - n * 60_000, text);
      }
    });
    await evictDurableObject(host);
    const { waiting } = await host.health();
    expect(waiting).toBe(2 + 399 * 50);
    const reasonsOf = async (n: number) =>
      new Set((await host.statuses(41, sha(n))).map(({ givenUp }) => givenUp?.reason));
    expect(await reasonsOf(399)).toEqual(new Set([undefined]));
    expect(await reasonsOf(400)).toEqual(new Set(["Too many states are waiting."]));
    await host.report(
      Array.from({ length: 60 }, (_, n) => ended({ buildId: `b${n}`, number: n, sha: sha(1_000 + n) })),
    );
    expect((await host.health()).waiting).toBeLessThanOrEqual(15_000);
    expect(await reasonsOf(1_059)).toEqual(new Set([undefined]));
    await at.change({ faults: [{ on: "POST", answer: 401 }] });
    await host.destroy();
  });
});

describe("a failing host", () => {
  it("gets every state after an hour of downtime, even if the object lost its memory", async () => {
    const { host, at, posted, later } = await furnished("github");
    await at.change({ faults: [{ on: "POST", answer: 503 }] });
    await host.report([reportOf()]);
    for (let minute = 0; minute < 60; minute++) {
      if (minute === 20) await host.report([ended()]);
      if (minute === 30) await evictDurableObject(host);
      await later(60_000);
    }
    expect(await posted()).toEqual([]);
    const { requests } = await at.seen();
    expect(requests.length).toBeLessThan(80);
    expect(await host.health()).toMatchObject({ waiting: 2, trouble: { reason: expect.stringContaining("503") } });
    await at.change({ faults: [] });
    for (let minute = 0; minute < 12; minute++) await later(60_000);
    expect(words(await posted()).slice(-2)).toEqual(["millrace/test success", "millrace success"]);
    expect(await host.health()).toMatchObject({ waiting: 0, trouble: null });
  });

  it("gets a changed token with the next try", async () => {
    const { id, kind, apiUrl, host, at, posted, later } = await furnished("gitea");
    await host.report([reportOf()]);
    await later();
    await at.change({ token: "another-token" });
    const sealed = await sealedToken({ id, kind, apiUrl }, "another-token");
    await env.DB.prepare("UPDATE connection SET sealed = ? WHERE id = ?").bind(sealed, id).run();
    await host.report([ended()]);
    await later();
    expect(words(await posted()).slice(1)).toEqual(["millrace/test success", "millrace success"]);
  });

  it("stays pending while it rejects the token, and continues as soon as the connection changes", async () => {
    const { host, at, posted, later } = await furnished("gitea");
    await at.change({ token: "another-token" });
    await host.report([ended()]);
    await later();
    await later(1_000);
    expect((await at.seen()).requests).toHaveLength(2);
    expect(await host.health()).toMatchObject({ trouble: { reason: "The git host does not accept the token." } });
    await at.change({ token: HOST_TOKEN });
    await host.connectionChanged();
    await later();
    expect(await posted()).toHaveLength(2);
  });

  it("gets no requests for as long as its rate limit says", async () => {
    const { host, at, posted, later } = await furnished("github");
    await at.change({ faults: [{ on: "POST", answer: 403, headers: { "Retry-After": "300" }, times: 1 }] });
    await host.report([ended()]);
    await later();
    await evictDurableObject(host);
    for (let n = 0; n < 5; n++) await later(50_000);
    expect((await at.seen()).requests).toHaveLength(1);
    await later(60_000);
    expect(await posted()).toHaveLength(2);
  });

  it("gets no further requests for a status that it rejects for good, and the reason is shown", async () => {
    const { host, at, posted, later } = await furnished("gitea");
    await at.change({ faults: [{ on: `POST /repos/acme/shop/statuses/${SHA}`, answer: 422, times: 1 }] });
    await host.report([ended()]);
    await later();
    await later(60_000);
    expect(words(await posted())).toEqual(["millrace success"]);
    const { givenUp } = await host.health();
    expect(givenUp).toEqual([
      expect.objectContaining({
        context: "millrace/test",
        givenUp: expect.objectContaining({ reason: expect.stringContaining("422") }),
      }),
    ]);
    expect(await host.statuses(41, SHA)).toHaveLength(2);
  });

  it.each([
    ["success from :success", []],
    ["enqueue from :running", []],
    ["success from :canceled", ["millrace/test success"]],
    ["enqueue from :canceled", ["millrace/test pending"]],
  ])("gets the state again via :%s if it is GitLab and has a different one", async (via, again) => {
    const { host, at, posted, later } = await furnished("gitlab");
    const body = `{"message":"Cannot transition status via :${via} (Reason(s): ...)"}`;
    await at.change({ faults: [{ on: "POST", answer: 400, body, times: 1 }] });
    await host.report([via.startsWith("success") ? ended() : reportOf()]);
    await later();
    await later(60_000);
    expect(words(await posted()).filter((word) => word.startsWith("millrace/test"))).toEqual(again);
    expect(await host.health()).toMatchObject({ waiting: 0, givenUp: [] });
  });

  it.each(["html", "elsewhere", "loop", "large"] as const)(
    "gets the request again later after the answer %s",
    async (answer) => {
      const { host, at, posted, later } = await furnished("gitea");
      await at.change({ faults: [{ on: "POST", answer, times: 1 }] });
      await host.report([ended()]);
      await later();
      for (let n = 0; n < 3; n++) await later(120_000);
      expect(words(await posted()).slice(0, 2)).toEqual(["millrace/test success", "millrace success"]);
    },
  );

  it("still gets the states of a renamed repository", async () => {
    const { host, at, posted, later } = await furnished("github");
    await at.change({ repositories: [{ id: 41, fullName: "acme/store", formerNames: ["acme/shop"] }] });
    await host.report([ended()]);
    await later();
    expect(await posted()).toHaveLength(2);
    const paths = (await at.seen()).requests.map(({ path }) => path);
    expect(paths).toContain("/repositories/41");
    expect(paths.at(-1)).toBe(`/repos/acme/store/statuses/${SHA}`);
  });
});

describe("a connection", () => {
  it("has an object that may hibernate as soon as the host has answered", { timeout: 8_000 }, async () => {
    const { host, later } = await furnished("gitea");
    await host.report([ended()]);
    await later();
    // Waits for the object's timers: its timeout for a host is 10 s.
    await evictDurableObject(host);
    expect(await host.health()).toMatchObject({ waiting: 0 });
  });

  it("reports and keeps nothing without a token or while inactive", async () => {
    for (const over of [{ auth: "none" }, { isActive: 0 }]) {
      passTime(0);
      const at = await newHost({ kind: "github" });
      const { host } = await newConnection("github", at.webUrl, over);
      await host.report([ended()]);
      passTime(2_000);
      await runDurableObjectAlarm(host);
      expect((await at.seen()).requests).toEqual([]);
      expect(await host.statuses(41, SHA)).toEqual([]);
    }
  });

  it("deletes its object when it is deleted", async () => {
    const { id, host, at, later } = await furnished("github");
    await env.DB.prepare("DELETE FROM connection WHERE id = ?").bind(id).run();
    await host.report([ended()]);
    await later();
    expect((await at.seen()).requests).toEqual([]);
    await runInDurableObject(host, async (_object, { storage }) => {
      expect([...storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'commits'")]).toEqual([]);
      expect(await storage.getAlarm()).toBeNull();
    });
    await host.report([ended()]);
    expect(await host.deliveries(1)).toEqual([]);
  });

  it("does not open if its row was copied to another host", async () => {
    const { id, host, later } = await furnished("github");
    const thief = await newHost({ kind: "github" });
    await env.DB.prepare("UPDATE connection SET api_url = ? WHERE id = ?").bind(`${thief.webUrl}/api/v3`, id).run();
    await host.report([ended()]);
    await later();
    expect((await thief.seen()).requests).toEqual([]);
    expect(await host.health()).toMatchObject({ waiting: 2 });
  });
});
