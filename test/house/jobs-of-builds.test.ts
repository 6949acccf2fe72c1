import { expect, it } from "vitest";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/** Code that asks whether a build has the jobs of a file, or only the one that it began with. A file is asked as `plan`. */
const QUESTIONS = [
  /(?<!\b(?:plan|file)\.)\bjobs\s*(?:[!=]==?\s*(?:null|undefined)\b|\?\?(?! null)|\?\.)/,
  /\b(?:build|found|green|whole)\.jobs(?:\s*(?:&&|\|\||\?\s)|\.length\s*(?:[!=]==?|[<>]=?)\s*[12]\b)/,
  /!\s*(?:build|found|green|whole)\.jobs\b/,
  /\b(?:isOfOne|isPlanned|wholeBuilds|hasJobs\(build)\b/,
  /\b(?:several|jobOf)\??:/,
];

/** The planner, which makes the jobs of a file; the view, which makes the answer; and what the pool writes down of it. */
const MAY_ASK = ["src/domain/plan/plan-of-job.ts", "src/objects/agent-pool-lists.ts", "src/services/build-view.ts"];

/** Rows of earlier releases have fields of these names. */
const EARLIER = "src/objects/agent-pool-earlier-rows.ts";

const askedIn = (files: SourceFile[]): string[] =>
  files
    .filter(({ path, text }) => path !== EARLIER && QUESTIONS.some((question) => question.test(text)))
    .map(({ path }) => path)
    .sort();

it("whether a build has the jobs of a file is asked by the planner and the view alone", () => {
  expect(askedIn(sourceFiles("src/{domain,services,dashboard,objects}/**/*.{ts,tsx}"))).toEqual(MAY_ASK);
});

it.each([
  "const isWaiting = build.jobs === null && isQueued(build);",
  "const { jobs } = build; for (const job of jobs ?? []) tell(job);",
  "return green?.jobs?.find(isGreen);",
  "{build.jobs && <Jobs jobs={build.jobs} />}",
  '<h2>{build.jobs ? "Jobs" : "Steps"}</h2>',
  "if (!found.jobs) return null;",
  "if (build.jobs.length > 1) fold();",
  "const isOfOne = has(build);",
  "interface Facts { several?: Graph }",
])("another place that asks would be seen: %s", (text) => {
  expect(askedIn([{ path: "src/services/builds.ts", text }])).toHaveLength(1);
});
