import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { graphJob, graphOf, TestBuild } from "./test-build.ts";

interface Case {
  id: string;
  jobs: Record<string, { needs: string[]; when: "success" | "failure" | "always" | "gate"; mayFail?: boolean }>;
  steps: [event: "success" | "drop" | "cancel", jobs: string[], states: Record<string, string>, build: string][];
  failFast?: boolean;
  ours: { start: Record<string, string>; steps: { jobs: Record<string, string>; build: string }[] };
  agrees: boolean;
}

const { cases } = JSON.parse(readFileSync(`${import.meta.dirname}/propagation-odd.json`, "utf8")) as { cases: Case[] };

/** Where this service decides otherwise than the one that the row is from, and why. */
const BY_DECISION: Record<string, string> = {
  dag_build_fails_other_build_succeeds_deploy_needs_one_build_and_test:
    "a need that never ran because of a failure is no good need",
  gh_skip_trap: "only what a job needs directly is looked at, so that a far ancestor surprises nobody",
};

const CONDITIONS = { success: null, gate: null, failure: "failure()", always: "always()" };

const start = ({ jobs, failFast = false }: Case): TestBuild =>
  new TestBuild(
    graphOf(
      Object.entries(jobs).map(([key, { needs, when, mayFail = false }]) =>
        graphJob(key, {
          needs,
          mayFail,
          condition: CONDITIONS[when],
          ...(when === "gate" && {
            hasSteps: false,
            gate: { message: null, by: "maintainer", timeoutHours: 72, hostStatus: "success" },
          }),
        }),
      ),
      { failFast },
    ),
  );

const happen = (build: TestBuild, event: Case["steps"][number][0], job: string): void => {
  if (build.statusOf(job) === "gate") build.decide(job, event === "success");
  else if (event === "cancel") build.cancelJob(job);
  else {
    build.lease(job);
    build.finish(job, event === "success" ? "succeeded" : "failed");
  }
};

/** Their `skipped` is our `skipped` or `dropped`. */
const theirs: Record<string, string[]> = {
  pending: ["queued"],
  created: ["waiting"],
  success: ["succeeded"],
  manual: ["gate"],
  failed: ["failed"],
  canceled: ["canceled"],
  skipped: ["skipped", "dropped"],
};

/** A build that waits for a first or a next lease runs, in the words of the rows. */
const buildWord = ({ status, end }: TestBuild): string => (end ? status : "running");

describe("what becomes of jobs when their needs end", () => {
  it.each(cases.map((one) => [one.id, one] as const))("%s", (id, one) => {
    const build = start(one);
    expect(build.statuses()).toEqual(one.ours.start);
    let agrees = true;
    for (const [at, [event, jobs, states]] of one.steps.entries()) {
      for (const job of jobs) happen(build, event, job);
      expect(build.statuses()).toEqual(one.ours.steps[at]!.jobs);
      expect(buildWord(build)).toBe(one.ours.steps[at]!.build.replace(/ \(.*/, ""));
      agrees &&= Object.entries(states).every(([job, word]) => theirs[word]!.includes(build.statusOf(job)));
    }
    expect(agrees).toBe(one.agrees);
    expect(agrees).toBe(!(id in BY_DECISION));
  });
});
