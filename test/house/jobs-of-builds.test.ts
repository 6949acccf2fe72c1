import { expect, it } from "vitest";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/**
 * Finds code that asks which jobs a build has: only its first one, or planned ones. Code may ask a file, under the name
 * `plan`. The patterns find a renamed question by its answer: the number of jobs, or the view's result.
 */
const QUESTIONS = [
  /(?<!\b(?:plan|file)\.)\bjobs\s*(?:[!=]==?\s*(?:null|undefined)\b|\?\?(?! null)|\?\.)/,
  /\b(?:build|found|green|whole)\.jobs\s*(?:&&|\|\||\?\s)/,
  /!\s*(?:build|found|green|whole)\.jobs\b/,
  /(?<!\b(?:plan|file|graph|lane))\.jobs(?:\.length\s*(?:[!=]==?|[<>]=?)\s*[012]\b|\.at\(1\)|\[1\])/,
  /\b(?:ownJob|plannedJobs)\([^)]*\)(?:\.length\s*(?:[!=]==?|[<>]=?)|\.length\s*\?|\s*(?:[!=]==|&&|\?\s))/,
  /!(?:ownJob|plannedJobs)\(/,
  /\b(?:isOfOne|isPlanned|wholeBuilds|hasJobs\(build)\b/,
  /\b(?:is|has)(?:Of)?(?:One|Single|Several|Many|Multi|Planned|Graph)\w*Jobs?\b/,
  /\b(?:several|jobOf)\??:/,
];

/** The planner, which creates a file's jobs, and the view, which computes the answer. */
const MAY_ASK = ["src/pipeline/parse/plan-contents.ts", "src/services/builds/build-view.ts"];

/** Rows from earlier releases have fields with these names. */
const EARLIER = "src/objects/pool/rows.ts";

const askedIn = (files: SourceFile[]): string[] =>
  files
    .filter(({ path, text }) => path !== EARLIER && QUESTIONS.some((question) => question.test(text)))
    .map(({ path }) => path)
    .sort();

it("only the planner and the view ask whether a build has planned jobs", () => {
  expect(askedIn(sourceFiles("src/{domain,pipeline,githosts,queue,services,dashboard,objects}/**/*.{ts,tsx}"))).toEqual(
    MAY_ASK,
  );
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
  "const isLone = (whole: ReadBuild): boolean => whole.jobs.length === 1;",
  "return one.jobs.at(1) === undefined;",
  "const fold = plannedJobs(build).length > 0;",
  "{ownJob(build) ? <Steps /> : <Jobs />}",
  "if (!ownJob(build)) return;",
  "const hasManyJobs = ask(build);",
])("the check finds another place that asks: %s", (text) => {
  expect(askedIn([{ path: "src/services/builds/builds.ts", text }])).toHaveLength(1);
});
