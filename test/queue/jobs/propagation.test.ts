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
    "a failure at the root drops all that stands on it, near and far",
    RELEASE,
    { compile: "queued", check: "waiting", publish: "waiting" },
    [["fails", "compile", { compile: "failed", check: "dropped", publish: "dropped" }]],
    "failed",
  ],
  [
    "success goes on job by job",
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
    "a job canceled in the middle drops what needs it, and the build is canceled",
    RELEASE,
    { compile: "queued", check: "waiting", publish: "waiting" },
    [
      ["passes", "compile", { compile: "succeeded", check: "queued" }],
      ["canceled", "check", { check: "canceled", publish: "dropped" }],
    ],
    "canceled",
  ],
  [
    "a failure wakes those that wait for one, and those that run always",
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
    "without a failure the one that waits for it is skipped",
    REPORTED,
    { compile: "queued", tell: "waiting", clean: "waiting" },
    [
      ["passes", "compile", { compile: "succeeded", tell: "skipped", clean: "queued" }],
      ["fails", "clean", { clean: "failed" }],
    ],
    "failed",
  ],
  [
    "a job that may fail counts as good for those after it",
    { nightly: " may fail", pack: "[nightly]", tell: "[nightly] if failure()" },
    { nightly: "queued", pack: "waiting", tell: "waiting" },
    [
      ["fails", "nightly", { nightly: "failed", pack: "queued", tell: "skipped" }],
      ["passes", "pack", { pack: "succeeded" }],
    ],
    "succeeded",
  ],
  [
    "one that may fail and was dropped never ran: what needs it is dropped too",
    { compile: "", nightly: "[compile] may fail", pack: "[nightly]" },
    { compile: "queued", nightly: "waiting", pack: "waiting" },
    [["fails", "compile", { compile: "failed", nightly: "dropped", pack: "dropped" }]],
    "failed",
  ],
  [
    "of two needs the failed one decides, whichever ends first",
    { web: "", api: "", join: "[web, api]" },
    { web: "queued", api: "queued", join: "waiting" },
    [
      ["fails", "api", { api: "failed" }],
      ["passes", "web", { web: "succeeded", join: "dropped" }],
    ],
    "failed",
  ],
  [
    "a skipped need skips, and one that is named optional does not",
    { pages: "if false", link: "[pages]", index: "[pages?]" },
    { pages: "skipped", link: "skipped", index: "queued" },
    [["passes", "index", { index: "succeeded" }]],
    "succeeded",
  ],
  [
    "a skip goes on through those that are skipped for it",
    { pages: "if false", link: "[pages]", send: "[link]", sum: "[send] if always()" },
    { pages: "skipped", link: "skipped", send: "skipped", sum: "queued" },
    [["passes", "sum", { sum: "succeeded" }]],
    "succeeded",
  ],
  [
    "nothing is left to do where all is skipped",
    { pages: "if false", link: "[pages]" },
    { pages: "skipped", link: "skipped" },
    [],
    "succeeded",
  ],
  [
    "only direct needs are looked at: a mended failure lets the next job run",
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
    "a drop because of a failure is one for failure()",
    { compile: "", check: "[compile]", tell: "[check] if failure()" },
    { compile: "queued", check: "waiting", tell: "waiting" },
    [
      ["fails", "compile", { compile: "failed", check: "dropped", tell: "queued" }],
      ["passes", "tell", { tell: "succeeded" }],
    ],
    "failed",
  ],
  [
    "a canceled job is no failure",
    { compile: "", tell: "[compile] if failure()", clean: "[compile] if always()" },
    { compile: "queued", tell: "waiting", clean: "waiting" },
    [
      ["canceled", "compile", { compile: "canceled", tell: "skipped", clean: "queued" }],
      ["passes", "clean", { clean: "succeeded" }],
    ],
    "canceled",
  ],
  [
    "an approved gate lets the next one run",
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
    "nobody is asked where what the gate needs has failed",
    { compile: "", ask: "[compile] gate", publish: "[ask]" },
    { compile: "queued", ask: "waiting", publish: "waiting" },
    [["fails", "compile", { compile: "failed", ask: "dropped", publish: "dropped" }]],
    "failed",
  ],
  [
    "jobs beside a gate go on while it is asked",
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

describe("what becomes of jobs when their needs end", () => {
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

  it("a rejected gate ends as failed, and drops what it guards", () => {
    const build = new TestBuild(graphOf([jobOf("ask", " gate"), jobOf("publish", "[ask]")]));
    happen(build, "rejects", "ask");
    expect(build.statusOf("publish")).toBe("dropped");
    expect(build.end).not.toBeNull();
    expect([build.statusOf("ask"), build.status]).toEqual(["failed", "failed"]);
  });
});
