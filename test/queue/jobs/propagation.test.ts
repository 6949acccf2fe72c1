import { describe, expect, it } from "vitest";
import { graphJob, graphOf, TestBuild } from "./test-build.ts";

/**
 * `lint` needs nothing; `[lint]` needs it; `[lint] if failure()` has a condition; `[lint?]` allows a skipped `lint`.
 */
type Jobs = Record<string, string>;
/** A job's event, and the other jobs' new statuses. Jobs without an entry do not change. */
type Step = [event: string, job: string, then: Record<string, string>];

const jobOf = (key: string, words: string) => {
  const [, needs = "", condition = ""] = /^(?:\[(.*?)\])? ?(?:if (.*?))?(?: may fail)?(?: gate)?$/.exec(words) ?? [];
  return graphJob(key, {
    needs: needs
      .split(", ")
      .filter(Boolean)
      .map((need) => ({ definition: need.replace("?", ""), isOptional: need.endsWith("?") })),
    condition: condition || null,
    mayFail: words.includes("may fail"),
    ...(words.includes("gate") && {
      hasSteps: false,
      gate: { message: null, by: "maintainer" as const, timeoutHours: 72, hostStatus: "success" as const },
    }),
  });
};

const happen = (build: TestBuild, event: string, job: string): void => {
  if (event === "approves" || event === "rejects") build.decide(job, event === "approves");
  else if (event === "canceled") build.cancelJob(job);
  else {
    build.lease(job);
    build.finish(job, event === "passes" ? "succeeded" : "failed");
  }
};

const RELEASE: Jobs = { compile: "", check: "[compile]", publish: "[compile, check]" };
const REPORTED: Jobs = { compile: "", tell: "[compile] if failure()", clean: "[compile] if always()" };

const CASES: [title: string, jobs: Jobs, start: Record<string, string>, steps: Step[], end: string][] = [
  [
    "a failed root drops all its dependents, direct and indirect",
    RELEASE,
    { compile: "queued", check: "waiting", publish: "waiting" },
    [["fails", "compile", { compile: "failed", check: "dropped", publish: "dropped" }]],
    "failed",
  ],
  [
    "success continues job by job",
    RELEASE,
    { compile: "queued", check: "waiting", publish: "waiting" },
    [
      ["passes", "compile", { compile: "succeeded", check: "queued" }],
      ["passes", "check", { check: "succeeded", publish: "queued" }],
      ["passes", "publish", { publish: "succeeded" }],
    ],
    "succeeded",
  ],
  [
    "a job canceled in the middle drops its dependents, and the build is canceled",
    RELEASE,
    { compile: "queued", check: "waiting", publish: "waiting" },
    [
      ["passes", "compile", { compile: "succeeded", check: "queued" }],
      ["canceled", "check", { check: "canceled", publish: "dropped" }],
    ],
    "canceled",
  ],
  [
    "a failure starts jobs with failure() and jobs with always()",
    REPORTED,
    { compile: "queued", tell: "waiting", clean: "waiting" },
    [
      ["fails", "compile", { compile: "failed", tell: "queued", clean: "queued" }],
      ["passes", "tell", { tell: "succeeded" }],
      ["passes", "clean", { clean: "succeeded" }],
    ],
    "failed",
  ],
  [
    "a job with failure() is skipped without a failure",
    REPORTED,
    { compile: "queued", tell: "waiting", clean: "waiting" },
    [
      ["passes", "compile", { compile: "succeeded", tell: "skipped", clean: "queued" }],
      ["fails", "clean", { clean: "failed" }],
    ],
    "failed",
  ],
  [
    "a job that may fail counts as succeeded for later jobs",
    { nightly: " may fail", pack: "[nightly]", tell: "[nightly] if failure()" },
    { nightly: "queued", pack: "waiting", tell: "waiting" },
    [
      ["fails", "nightly", { nightly: "failed", pack: "queued", tell: "skipped" }],
      ["passes", "pack", { pack: "succeeded" }],
    ],
    "succeeded",
  ],
  [
    "a job that may fail but was dropped never ran, so its dependents are dropped too",
    { compile: "", nightly: "[compile] may fail", pack: "[nightly]" },
    { compile: "queued", nightly: "waiting", pack: "waiting" },
    [["fails", "compile", { compile: "failed", nightly: "dropped", pack: "dropped" }]],
    "failed",
  ],
  [
    "a failed need decides over a succeeded one, whichever ends first",
    { web: "", api: "", join: "[web, api]" },
    { web: "queued", api: "queued", join: "waiting" },
    [
      ["fails", "api", { api: "failed" }],
      ["passes", "web", { web: "succeeded", join: "dropped" }],
    ],
    "failed",
  ],
  [
    "a skipped need skips its dependents, except as an optional need",
    { pages: "if false", link: "[pages]", index: "[pages?]" },
    { pages: "skipped", link: "skipped", index: "queued" },
    [["passes", "index", { index: "succeeded" }]],
    "succeeded",
  ],
  [
    "a skip cascades through skipped jobs",
    { pages: "if false", link: "[pages]", send: "[link]", sum: "[send] if always()" },
    { pages: "skipped", link: "skipped", send: "skipped", sum: "queued" },
    [["passes", "sum", { sum: "succeeded" }]],
    "succeeded",
  ],
  [
    "a build with only skipped jobs ends",
    { pages: "if false", link: "[pages]" },
    { pages: "skipped", link: "skipped" },
    [],
    "succeeded",
  ],
  [
    "only direct needs count: after a handled failure the next job runs",
    { compile: "", mend: "[compile] if failure()", pack: "[mend]" },
    { compile: "queued", mend: "waiting", pack: "waiting" },
    [
      ["fails", "compile", { compile: "failed", mend: "queued" }],
      ["passes", "mend", { mend: "succeeded", pack: "queued" }],
      ["passes", "pack", { pack: "succeeded" }],
    ],
    "failed",
  ],
  [
    "a job dropped by a failure counts as failed for failure()",
    { compile: "", check: "[compile]", tell: "[check] if failure()" },
    { compile: "queued", check: "waiting", tell: "waiting" },
    [
      ["fails", "compile", { compile: "failed", check: "dropped", tell: "queued" }],
      ["passes", "tell", { tell: "succeeded" }],
    ],
    "failed",
  ],
  [
    "a canceled job does not count as failed",
    { compile: "", tell: "[compile] if failure()", clean: "[compile] if always()" },
    { compile: "queued", tell: "waiting", clean: "waiting" },
    [
      ["canceled", "compile", { compile: "canceled", tell: "skipped", clean: "queued" }],
      ["passes", "clean", { clean: "succeeded" }],
    ],
    "canceled",
  ],
  [
    "an approved gate starts the next job",
    { compile: "", ask: "[compile] gate", publish: "[ask]" },
    { compile: "queued", ask: "waiting", publish: "waiting" },
    [
      ["passes", "compile", { compile: "succeeded", ask: "gate" }],
      ["approves", "ask", { ask: "succeeded", publish: "queued" }],
      ["passes", "publish", { publish: "succeeded" }],
    ],
    "succeeded",
  ],
  [
    "a gate does not open if its needs failed",
    { compile: "", ask: "[compile] gate", publish: "[ask]" },
    { compile: "queued", ask: "waiting", publish: "waiting" },
    [["fails", "compile", { compile: "failed", ask: "dropped", publish: "dropped" }]],
    "failed",
  ],
  [
    "jobs beside a gate continue while it is open",
    { ask: " gate", publish: "[ask]", check: "" },
    { ask: "gate", publish: "waiting", check: "queued" },
    [
      ["fails", "check", { check: "failed" }],
      ["approves", "ask", { ask: "succeeded", publish: "queued" }],
      ["passes", "publish", { publish: "succeeded" }],
    ],
    "failed",
  ],
];

describe("the state of jobs after their needs end", () => {
  it.each(CASES)("%s", (_, jobs, begin, steps, end) => {
    const build = new TestBuild(graphOf(Object.entries(jobs).map(([key, words]) => jobOf(key, words))));
    let expected = begin;
    expect(build.statuses()).toEqual(expected);
    for (const [index, [event, job, then]] of steps.entries()) {
      expect(build.end, `before step ${index}`).toBeNull();
      happen(build, event, job);
      expected = { ...expected, ...then };
      expect(build.statuses(), `after step ${index}`).toEqual(expected);
    }
    expect([build.end !== null, build.status]).toEqual([true, end]);
  });

  it("a rejected gate ends as failed, and drops the jobs behind it", () => {
    const build = new TestBuild(graphOf([jobOf("ask", " gate"), jobOf("publish", "[ask]")]));
    happen(build, "rejects", "ask");
    expect(build.statusOf("publish")).toBe("dropped");
    expect(build.end).not.toBeNull();
    expect([build.statusOf("ask"), build.status]).toEqual(["failed", "failed"]);
  });
});
