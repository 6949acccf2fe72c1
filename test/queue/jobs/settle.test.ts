import { describe, expect, it } from "vitest";
import { readNeeds } from "../../../src/queue/jobs/needs.ts";
import { settleDue } from "../../../src/queue/state/deadlines.ts";
import { DAY, graphJob, graphOf, TestBuild } from "./test-build.ts";

const GATE = { message: "Release?", by: "maintainer", timeoutHours: 48, hostStatus: "success" } as const;
const MINUTE = 60_000;

const endOf = (build: TestBuild, jobId: string) => build.jobs.get(jobId)!.end;

const run = (build: TestBuild, jobId: string, status: "succeeded" | "failed", exitCode = 0): void => {
  build.lease(jobId);
  build.finish(jobId, status, exitCode);
};

describe("the cause of a job's end", () => {
  it("names the job where a skip began, and its condition", () => {
    const build = new TestBuild(
      graphOf([
        graphJob("a", { condition: "build.branch == 'release'" }),
        graphJob("b", { needs: ["a"] }),
        graphJob("c", { needs: ["b"] }),
      ]),
    );
    const text = "build.branch == 'release'";
    expect(endOf(build, "a")).toMatchObject({ status: "skipped", cause: { kind: "condition", job: null, text } });
    expect(endOf(build, "c")).toMatchObject({ status: "skipped", cause: { kind: "need-skipped", job: "a", text } });
    expect(build.end).toMatchObject({ status: "succeeded", exitCode: 0 });
  });

  it("names a failure before a cancel, and a cancel before a skip", () => {
    const build = new TestBuild(
      graphOf([
        graphJob("off", { condition: "false" }),
        graphJob("stopped"),
        graphJob("red"),
        graphJob("both", { needs: ["off", "stopped"] }),
        graphJob("all", { needs: ["off", "both", "red"] }),
      ]),
    );
    build.cancelJob("stopped");
    run(build, "red", "failed", 3);
    expect(endOf(build, "both")).toMatchObject({ status: "dropped", cause: { kind: "need-canceled", job: "stopped" } });
    expect(endOf(build, "all")).toMatchObject({ status: "dropped", cause: { kind: "need-failed", job: "red" } });
  });
});

describe("a condition", () => {
  it("fails its job with an explanation if it cannot be evaluated", () => {
    const build = new TestBuild(graphOf([graphJob("a", { condition: "fromJSON(vars.LIST) == 1" })]));
    expect(endOf(build, "a")).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
    expect(endOf(build, "a")!.message).toBe("Its `if` cannot be evaluated: The text passed to fromJSON() is not JSON");
    expect(build.end).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
  });

  it.each(["a ==", "nosuch(1)", "'", ""])("with an invalid expression does not affect other jobs: %s", (condition) => {
    const build = new TestBuild(graphOf([graphJob("a", { condition }), graphJob("b")]));
    expect(build.statusOf("b")).toBe("queued");
    expect(["failed", "queued"]).toContain(build.statusOf("a"));
  });

  it("reads matrix, vars, outputs and changed files", () => {
    const facts = {
      build: { branch: "main" },
      repository: { fullName: "acme/shop" },
      vars: { TIER: "gold" },
      changed: { "docs/**": false, "src/**": true },
    };
    const seen = (condition: string) =>
      new TestBuild(graphOf([graphJob("a", { condition, matrix: { os: "linux", fast: true } })], { facts })).statusOf(
        "a",
      );
    for (const condition of [
      "matrix.os == 'linux' && matrix.fast",
      "vars.TIER == 'gold'",
      "repository.fullName == 'acme/shop'",
      "changed('src/**')",
      "changed('docs/**', 'src/**')",
      "changed('never asked/**')",
      "!vars.constructor && !matrix.toString",
    ])
      expect([condition, seen(condition)]).toEqual([condition, "queued"]);
    expect(seen("changed('docs/**')")).toBe("skipped");
  });

  it("reads the outputs of the jobs that its job needs", () => {
    const build = new TestBuild(
      graphOf([
        graphJob("find"),
        graphJob("api", { needs: ["find"], condition: "contains(fromJSON(needs.find.outputs.list), 'api')" }),
        graphJob("web", { needs: ["find"], condition: "contains(fromJSON(needs.find.outputs.list), 'web')" }),
      ]),
    );
    build.lease("find");
    build.outputs.set("find", { list: '["api"]' });
    build.finish("find", "succeeded");
    expect(build.statuses()).toEqual({ find: "succeeded", api: "queued", web: "skipped" });
  });

  it("fails its job if it reads a matrix's outputs as those of one job", () => {
    const combination = { id: "t1", key: "t (1)", matrix: { at: "1" } };
    const build = new TestBuild(
      graphOf([
        graphJob("t", combination),
        graphJob("t", { ...combination, id: "t2", key: "t (2)" }),
        graphJob("end", { needs: ["t"], condition: "needs.t.outputs.word == 'yes'" }),
      ]),
    );
    run(build, "t1", "succeeded");
    run(build, "t2", "succeeded");
    expect(endOf(build, "end")).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
    expect(endOf(build, "end")!.message).toContain("read its `jobs`");
  });

  it("cannot block the pool, however much all conditions read together", () => {
    const once = "contains(needs.a.outputs.text, matrix.at)";
    const combinations = Array.from({ length: 200 }, (_, at) =>
      graphJob("t", {
        ...{ id: `t${at}`, key: `t (${at})`, matrix: { at: `?${at}` }, needs: ["a"] },
        condition: Array.from({ length: 100 }, () => once).join(" || "),
      }),
    );
    const build = new TestBuild(graphOf([graphJob("a"), ...combinations]));
    build.lease("a");
    build.outputs.set("a", { text: "-".repeat(60_000) });
    build.finish("a", "succeeded");
    expect(build.end).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
    expect(build.end!.message).toContain("The conditions of all jobs together read too much text");
  });

  it("with success() alone counts as no condition", () => {
    const build = new TestBuild(graphOf([graphJob("a"), graphJob("b", { needs: ["a"], condition: " success( ) " })]));
    run(build, "a", "failed");
    expect(endOf(build, "b")).toMatchObject({ status: "dropped", cause: { kind: "need-failed", job: "a" } });
  });
});

describe("a job's view of its needs", () => {
  it("lists combinations in their order and gives outputs only of those that succeeded", () => {
    const combination = (os: string) => ({ id: `t-${os}`, key: `test (${os})`, matrix: { os }, mayFail: true });
    const graph = graphOf([
      graphJob("one"),
      graphJob("test", combination("mac")),
      graphJob("test", combination("linux")),
      graphJob("end", { needs: ["test", "one"], condition: "always()" }),
    ]);
    const build = new TestBuild(graph);
    for (const id of ["one", "t-mac", "t-linux"]) build.outputs.set(id, { word: id });
    run(build, "one", "succeeded");
    run(build, "t-linux", "succeeded");
    run(build, "t-mac", "failed");
    const needs = readNeeds(graph, build.jobs, "end", (id) => build.outputs.get(id) ?? {});
    expect(needs).toEqual({
      test: {
        result: "success",
        outcome: "failure",
        outputs: null,
        jobs: [
          { matrix: { os: "mac" }, result: "success", outcome: "failure", outputs: {} },
          { matrix: { os: "linux" }, result: "success", outcome: "success", outputs: { word: "t-linux" } },
        ],
      },
      one: {
        result: "success",
        outcome: "success",
        outputs: { word: "one" },
        jobs: [{ matrix: null, result: "success", outcome: "success", outputs: { word: "one" } }],
      },
    });
  });
});

describe("a gate", () => {
  const deploy = () => new TestBuild(graphOf([graphJob("a"), graphJob("deploy", { needs: ["a"], gate: GATE })]));

  it("opens when its needs have ended, and the build's place becomes free", () => {
    const build = deploy();
    build.lease("a");
    expect(build.build.holdsPlace).toBe(true);
    expect(build.jobs.get("deploy")!.gate).toBeUndefined();
    build.finish("a", "succeeded");
    expect(build.statusOf("deploy")).toBe("gate");
    expect(build.build.holdsPlace).toBe(false);
    build.decide("deploy", true);
    expect(build.statusOf("deploy")).toBe("queued");
  });

  it("fails its job with the comment if it is rejected", () => {
    const build = deploy();
    run(build, "a", "succeeded");
    build.decide("deploy", false, "not on a Friday");
    expect(endOf(build, "deploy")).toMatchObject({
      status: "failed",
      reason: "gate-closed",
      cause: { kind: "gate", job: null, text: "not on a Friday" },
      message: "Ada rejected it: not on a Friday",
    });
    expect(build.end).toMatchObject({ status: "failed", reason: "gate-closed" });
  });

  it("closes when its time is up, and that time is the build's deadline", () => {
    const build = deploy();
    run(build, "a", "succeeded");
    expect(settleDue(build.build, build.jobs.values(), 0)).toBe(2 * DAY);
    build.wait(2 * DAY - 1);
    expect(build.statusOf("deploy")).toBe("gate");
    build.wait(1);
    expect(endOf(build, "deploy")!.message).toBe("Nobody approved it within 48 hours.");
  });
});

describe("a cancel of the build", () => {
  const busy = () =>
    new TestBuild(
      graphOf([
        graphJob("work"),
        graphJob("queued"),
        graphJob("later", { needs: ["work"] }),
        graphJob("clean", { needs: ["work"], condition: "always()" }),
        graphJob("unless", { needs: ["queued"], condition: "!cancelled()" }),
      ]),
    );

  it("reaches all jobs except cleanup, which has five minutes", () => {
    const build = busy();
    build.lease("work");
    build.cancel();
    expect(build.status).toBe("canceling");
    expect(build.statuses()).toMatchObject({
      work: "canceling",
      queued: "canceled",
      later: "canceled",
      clean: "waiting",
    });
    expect(build.statusOf("unless")).toBe("canceled");
    build.finish("work", "canceled");
    build.lease("clean");
    build.wait(5 * MINUTE - 1);
    expect(build.statusOf("clean")).toBe("running");
    build.wait(1);
    expect(build.statusOf("clean")).toBe("canceling");
    build.finish("clean", "succeeded");
    expect(build.end).toMatchObject({ status: "canceled", reason: "canceled" });
  });

  it("ends the cleanup at once when it is repeated", () => {
    const build = busy();
    build.lease("work");
    build.cancel();
    build.finish("work", "canceled");
    expect(build.statusOf("clean")).toBe("queued");
    build.cancel();
    expect(build.statusOf("clean")).toBe("canceled");
    expect(build.end).toMatchObject({ status: "canceled" });
  });

  it("by a newer head gives that as the reason", () => {
    const build = busy();
    build.lease("work");
    build.build = { ...build.build, supersededBy: "b2", message: "A newer commit came." };
    build.cancel();
    expect(build.queue.get("work")).toMatchObject({ reason: "superseded" });
    expect(endOf(build, "later")).toMatchObject({ reason: "superseded", cause: { text: "A newer commit came." } });
    build.finish("work", "canceled");
    build.cancel();
    expect(build.end).toMatchObject({ status: "canceled", reason: "superseded", message: "A newer commit came." });
  });

  it("works like the build's own timeout, except for the result", () => {
    const build = busy();
    build.lease("work");
    build.wait(30 * DAY);
    expect(build.statusOf("work")).toBe("canceling");
    build.finish("work", "canceled");
    expect(build.statusOf("clean")).toBe("queued");
    expect(settleDue(build.build, build.jobs.values(), build.now)).toBe(30 * DAY + 5 * MINUTE);
    build.wait(5 * MINUTE);
    expect(build.end).toEqual({
      kind: "end-build",
      status: "failed",
      exitCode: null,
      reason: "timeout",
      message: "The build ran for longer than 30 days.",
    });
  });
});

describe("fail-fast", () => {
  const combination = (at: number) => ({ id: `t${at}`, key: `t (${at})`, matrix: { at: String(at) }, failFast: true });

  it("in a matrix ends its other combinations, whatever their condition, and no other job", () => {
    const build = new TestBuild(
      graphOf([
        ...[1, 2, 3].map((at) => graphJob("t", { ...combination(at), condition: "always()" })),
        graphJob("other"),
      ]),
    );
    build.lease("t1");
    build.lease("t2");
    build.finish("t1", "failed", 7);
    expect(build.statuses()).toEqual({ t1: "failed", t2: "canceling", t3: "canceled", other: "queued" });
    expect(endOf(build, "t3")).toMatchObject({ reason: "fail-fast", cause: { kind: "fail-fast", job: "t (1)" } });
    build.finish("t2", "failed");
    run(build, "other", "succeeded");
    expect(build.end).toMatchObject({ status: "failed", exitCode: 7 });
  });

  it("for a whole file ends all other jobs except cleanup", () => {
    const jobs = [
      graphJob("a"),
      graphJob("b"),
      graphJob("c", { needs: ["b"] }),
      graphJob("clean", { needs: ["b"], condition: "always()" }),
    ];
    const build = new TestBuild(graphOf(jobs, { failFast: true }));
    build.lease("b");
    run(build, "a", "failed", 2);
    expect(build.statuses()).toEqual({ a: "failed", b: "canceling", c: "canceled", clean: "waiting" });
    build.finish("b", "canceled");
    run(build, "clean", "succeeded");
    expect(build.end).toMatchObject({ status: "failed", exitCode: 2 });
  });
});

describe("the end of a build", () => {
  it("names jobs that passed after a retry and jobs that were allowed to fail", () => {
    const build = new TestBuild(
      graphOf([
        graphJob("a", { mayFail: true }),
        graphJob("b", { retry: 2 }),
        graphJob("c", { retry: 1 }),
        graphJob("d", { retry: 1 }),
      ]),
    );
    run(build, "a", "failed", 1);
    run(build, "b", "failed", 1);
    run(build, "b", "failed", 1);
    for (const key of ["b", "d"]) run(build, key, "succeeded");
    run(build, "c", "failed", 1);
    run(build, "c", "succeeded");
    expect(build.end).toMatchObject({
      status: "succeeded",
      message: "1 job failed without failing the build: a. 2 jobs passed after a retry: b; c.",
    });
  });

  it("names jobs that failed and were allowed to", () => {
    const build = new TestBuild(graphOf([graphJob("a", { mayFail: true }), graphJob("b")]));
    run(build, "a", "failed", 1);
    run(build, "b", "succeeded");
    expect(build.end).toMatchObject({ status: "succeeded", message: "1 job failed without failing the build: a." });
  });

  it("has the result of the first job that failed", () => {
    const build = new TestBuild(graphOf([graphJob("a"), graphJob("b")]));
    run(build, "b", "failed", 9);
    build.now += 1;
    run(build, "a", "failed", 4);
    expect(build.end).toMatchObject({ status: "failed", exitCode: 9 });
  });

  it("does not rerun a job whose record is lost", () => {
    const build = new TestBuild(graphOf([graphJob("a"), graphJob("b", { needs: ["a"] })]));
    build.jobs.delete("a");
    expect(build.pending()).toMatchObject([
      { kind: "end", jobId: "b", status: "dropped", cause: { kind: "need-failed", job: "a" } },
      { kind: "end-build", status: "failed" },
    ]);
  });
});
