import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Waterfall } from "../../../src/dashboard/build/waterfall.tsx";
import { arrangeInColumns, opensAtFirst } from "../../../src/dashboard/job/arrange.ts";
import { JobList, spanJobs } from "../../../src/dashboard/job/job-list.tsx";
import { jobsAxis } from "../../../src/dashboard/job/jobs-of-build.tsx";
import { timeAxis } from "../../../src/dashboard/parts/time-axis.ts";
import type { JobOfBuild } from "../../../src/protocol/build-job.ts";
import { countToRetry } from "../../../src/services/builds/retry.ts";
import { gateRecord, idleJob, jobRecord } from "./job-records.ts";

const NOW = new Date("2026-11-22T12:05:00.000Z");
const AGENT = "01900000-0000-7000-8000-00000000aaaa";
const EARLIER = "01900000-0000-7000-8000-00000000bbbb";

const names = { now: NOW, agents: new Map([[AGENT, "mac-mini-3"]]), adopted: new Map([[EARLIER, 41]]) };
const axis = timeAxis({ queuedAt: 0, startedAt: 0, until: NOW.getTime(), isLive: false, usual: null });

const shown = (jobs: JobOfBuild[]): string => JobList({ jobs, names, times: { axis, usual: new Map() } }).html;

/** Returns the text that a person reads about each job, in order. */
const linesOf = (jobs: JobOfBuild[]): string[] =>
  shown(jobs)
    .split(/<li (?:id="j-|class="job-matrix")/)
    .slice(1)
    .map((row) =>
      `<${row}`
        .replace(/<[^>]*>/g, "")
        .replace(/\s+/g, " ")
        .trim(),
    );

describe("the time axis of a build's jobs", () => {
  const AT = Date.parse("2026-01-01T10:00:00.000Z");
  const at = (seconds: number) => new Date(AT + seconds * 1000).toISOString();
  const worked = jobRecord("build", { queuedAt: at(0), startedAt: at(0), finishedAt: at(60) });
  const asking = idleJob("deploy", { gate: gateRecord({ since: at(60) }) });
  const lengthOf = (
    jobs: JobOfBuild[],
    status: "running" | "succeeded" = "running",
    finishedAt: string | null = null,
  ) => {
    const { from, to } = jobsAxis({ jobs, status, queuedAt: at(0), finishedAt }, null, new Date(AT + 3_600_000));
    return (to - from) / 1000;
  };

  it("cuts the wait when the build waits only for people", () => {
    expect(lengthOf([worked, asking])).toBeLessThan(120);
    expect(lengthOf([worked, asking, idleJob("tell")])).toBeLessThan(120);
    expect(lengthOf([worked, asking])).toBeGreaterThan(60);
  });

  it("extends to now while anything else is active, and to the end of an ended build", () => {
    const running = jobRecord("lint", { status: "running", queuedAt: at(0), startedAt: at(0), finishedAt: null });
    expect(lengthOf([worked, asking, running])).toBeGreaterThanOrEqual(3600);
    expect(lengthOf([asking])).toBeGreaterThanOrEqual(3540);
    expect(lengthOf([worked], "succeeded", at(90))).toBe(90);
  });
});

describe("a build's job list", () => {
  it("explains each job that did not run or failed", () => {
    const condition = { kind: "condition", job: null, text: "build.branch == 'main'" } as const;
    const cause = (kind: NonNullable<JobOfBuild["cause"]>["kind"], job: string | null, text: string | null = null) => ({
      cause: { kind, job, text },
    });
    const decision = { approved: false, at: NOW.toISOString(), by: "ada", comment: "not today" };
    expect(
      linesOf([
        idleJob("own", { status: "skipped", cause: condition }),
        idleJob("behind", { status: "skipped", ...cause("need-skipped", "own", condition.text) }),
        idleJob("far-behind", { status: "skipped", ...cause("need-skipped", "behind") }),
        idleJob("after-failure", { status: "dropped", ...cause("need-failed", "test (26.10, phone)") }),
        idleJob("after-cancel", { status: "dropped", ...cause("need-canceled", "lint") }),
        idleJob("victim", { status: "canceled", reason: "fail-fast", ...cause("fail-fast", "lint") }),
        idleJob("stopped", { status: "canceled", reason: "canceled", ...cause("canceled", null) }),
        idleJob("rejected", { status: "failed", reason: "gate-closed", gate: gateRecord({ decision }) }),
        idleJob("forgotten", { status: "failed", reason: "gate-closed", gate: gateRecord() }),
        jobRecord("broken", { status: "failed", exitCode: 3, agentId: AGENT }),
        jobRecord("unlike", { status: "failed", exitCode: null, reason: "plan-mismatch" }),
      ]),
    ).toEqual([
      "skipped own skipped: condition build.branch == &#39;main&#39; was false",
      "skipped behind skipped: own was skipped: condition build.branch == &#39;main&#39; was false",
      "skipped far-behind skipped: behind was skipped",
      "dropped after-failure dropped: test (26.10, phone) failed",
      "dropped after-cancel dropped: lint was canceled",
      "canceled victim canceled: fail-fast: lint failed",
      "canceled stopped canceled: stopped early",
      "failed rejected failed: rejected by ada: not today",
      "failed forgotten failed: not approved in time",
      "failed broken 1m 04s failed: exit 3",
      "failed unlike 1m 04s failed: the commit&#39;s file differs from the planned one",
    ]);
  });

  it("shows what each active job waits for, its agent, and the source of an adopted result", () => {
    expect(
      linesOf([
        jobRecord("build", { agentId: AGENT, status: "running", finishedAt: null, attempt: 2 }),
        jobRecord("lint", { adoptedFrom: EARLIER }),
        idleJob("test", { status: "queued" }),
        idleJob("deploy", { gate: gateRecord(), depth: 1, needs: ["lint"] }),
        idleJob("report", { needs: ["lint", "build", "test"], depth: 1, mayFail: true }),
      ]),
    ).toEqual([
      "running build 5m 00s mac-mini-3 attempt 2",
      "succeeded lint 1m 04s from #41",
      "waiting test in the queue",
      "waiting for approval deploy waiting for approval",
      "waiting report may fail after build, test",
    ]);
  });

  it("folds a matrix's combinations with counts, and opens them when one did not succeed", () => {
    const matrix = { xcode: "26.10" };
    const green = [1, 2, 3].map((n) => jobRecord(`test (${n})`, { matrix }));
    expect(shown(green)).toMatch(/<details id="m-test">/);
    expect(linesOf(green)[0]).toBe("test 3 jobs 3 succeeded");
    const red = [...green, jobRecord("test (4)", { matrix, status: "failed", exitCode: 1 })];
    expect(shown(red)).toMatch(/<details id="m-test" data-opens="" open="">/);
    expect(linesOf(red)[0]).toBe("test 4 jobs 1 failed, 3 succeeded");
    const cause = { kind: "need-failed", job: "lint", text: null } as const;
    const dropped = [1, 2].map((n) => idleJob(`test (${n})`, { matrix, status: "dropped", cause }));
    expect(opensAtFirst(dropped)).toBe(false);
    expect(linesOf(dropped)[0]).toBe("test 2 jobs 2 dropped dropped: lint failed");
  });

  it("draws a matrix's combinations as one bar, from the first start to the last end", () => {
    const [early, late] = ["2026-01-01T10:00:00.000Z", "2026-01-01T10:00:30.000Z"];
    const [soon, end] = ["2026-01-01T10:00:40.000Z", "2026-01-01T10:01:00.000Z"];
    const first = jobRecord("test (1)", { startedAt: early, finishedAt: soon });
    const second = jobRecord("test (2)", { startedAt: late, finishedAt: end });
    const whole = { from: Date.parse(early), to: Date.parse(end), state: "succeeded" };
    expect(spanJobs([first, second])).toEqual([whole]);
    const failed = { ...second, status: "failed" } as const;
    const [red] = spanJobs([failed]);
    expect(red).toMatchObject({ from: Date.parse(late), state: "failed" });
    expect(spanJobs([first, failed])).toEqual([whole, red]);
    expect(spanJobs([{ ...first, status: "failed" }, failed])).toEqual([{ ...whole, state: "failed" }]);
    const running = { ...second, status: "running" as const, finishedAt: null };
    expect(spanJobs([first, running, idleJob("test (3)")])).toEqual([{ ...whole, to: null, state: "running" }]);
    expect(spanJobs([idleJob("test (3)"), { ...first, adoptedFrom: first.id }])).toEqual([]);
    expect(shown([first, second].map((job) => ({ ...job, matrix: { n: "1" } })))).toMatch(
      /<summary>.*<rect class="stretch is-succeeded".*<\/summary>/s,
    );
  });

  it("widens the bars when all names are short", () => {
    const drawn = (names: string[]) => {
      const times = names.map((name) => ({ name, word: "", waited: null, took: null, usual: undefined }));
      return Waterfall({ title: "", summary: "", axis, noun: "job", times, children: "" }).html;
    };
    expect(drawn(["lint"])).toContain('class="fall is-short"');
    expect(drawn(["lint", "a name of many characters"])).toContain('class="fall"');
  });

  it("names combinations by key when the file gives all of them the same name", () => {
    const jobs = [1, 2].map((n) => jobRecord(`test (${n})`, { matrix: { n: String(n) }, name: "Test it" }));
    expect(linesOf(jobs).slice(1)).toEqual(["succeeded test (1) 1m 04s", "succeeded test (2) 1m 04s"]);
    expect(linesOf(jobs.slice(1))[1]).toBe("succeeded Test it 1m 04s");
  });

  it("renders a hostile branch's names, values, causes and comments as text, each in its own element", () => {
    const text = `"><img src=x onerror=alert(1)>\u202etxt</details><script>x</script>`;
    const hostile = { definition: text, name: text, matrix: { axis: text } };
    const cause = { kind: "condition", job: text, text } as const;
    const decision = { approved: false, at: NOW.toISOString(), by: text, comment: text };
    const kinds = ["need-skipped", "need-failed", "fail-fast", "canceled"] as const;
    const markup = shown([
      idleJob(text, { ...hostile, status: "skipped", cause }),
      ...kinds.map((kind) => idleJob(text, { status: "dropped", depth: 1, cause: { ...cause, kind } })),
      idleJob(text, { status: "failed", depth: 2, reason: "gate-closed", gate: gateRecord({ decision }) }),
      idleJob(text, { depth: 3, needs: [text] }),
    ]);
    expect(markup).not.toMatch(/<img|<script/);
    const escaped = "&quot;&gt;&lt;img";
    for (const [, before = ""] of markup.matchAll(new RegExp(`(.{5})${escaped}`, "gs"))) {
      expect(before).toMatch(/(<bdi>|code>|d="m-|hat">)$/);
    }
    expect(markup.split(escaped).length).toBeGreaterThan(12);
  });
});

/** Generates jobs in topological order. Each job needs only earlier ones. */
const graphs = fc
  .array(
    fc.record({
      needs: fc.array(fc.nat({ max: 8 }), { maxLength: 3 }),
      status: fc.constantFrom<JobOfBuild["status"]>("succeeded", "failed", "dropped", "canceled", "skipped"),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((rows) => {
    const jobs: JobOfBuild[] = [];
    for (const [index, { needs, status }] of rows.entries()) {
      const own = [...new Set(needs.filter((need) => need < index).map((need) => `j${need}`))];
      const depths = own.map((key) => jobs.find((job) => job.key === key)?.depth ?? 0);
      jobs.push(jobRecord(`j${index}`, { needs: own, status, depth: own.length === 0 ? 0 : 1 + Math.max(...depths) }));
    }
    return jobs;
  });

describe("jobs in any graph", () => {
  it("are each in one column, after all jobs that they need", () => {
    fc.assert(
      fc.property(graphs, (jobs) => {
        const columns = arrangeInColumns(jobs);
        const placeOf = (key: string) => columns.findIndex((column) => column.some((of) => of.key === key));
        expect(columns.flat().flatMap((of) => of.jobs)).toHaveLength(jobs.length);
        for (const { key, needs } of jobs) for (const need of needs) expect(placeOf(need)).toBeLessThan(placeOf(key));
      }),
    );
  });

  it("are retried if they or a job that they need did not end well, and only then", () => {
    fc.assert(
      fc.property(graphs, (jobs) => {
        const byKey = new Map(jobs.map((job) => [job.key, job]));
        const isHurt = (key: string): boolean => {
          const { status, needs } = byKey.get(key) as JobOfBuild;
          return ["failed", "dropped", "canceled"].includes(status) || needs.some(isHurt);
        };
        expect(countToRetry(jobs)).toBe(jobs.filter(({ key }) => isHurt(key)).length);
      }),
    );
  });
});
