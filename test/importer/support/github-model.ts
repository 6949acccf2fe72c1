import { existsSync, rmSync } from "node:fs";
import { parse } from "yaml";
import { fill, holds, statusFunctions } from "./github-words.ts";
import { type Job, JobRun, type PlaceThere, type Result, type Texts, type Workflow } from "./job-there.ts";
import { type Combination, combinationsThere } from "./matrix-there.ts";

/*
 * A model of GitHub's behaviour, small enough to compare with the documentation. Each documented rule names its page.
 * It runs the scripts: jobs in sequence, each in a copy of the checkout, with a cache that is always empty. An unknown
 * action prints that it ran.
 */

/** A run's result: each job's end, and the lines that begin with `> `, by the job's key with its combination. */
export interface Transcript {
  results: Record<string, Result>;
  lines: Record<string, string[]>;
}

interface JobEnd {
  result: Result;
  outputs: Texts;
}

/** Returns a job's key with its combination as this service writes it: the axes' values, in their order. */
const inBrackets = (key: string, axes: object, combination: Combination): string => {
  const values = Object.keys(axes).flatMap((axis) => combination[axis] ?? []);
  return values.length === 0 ? key : `${key} (${values.join(", ")})`;
};

/**
 * Runs a workflow in a folder with a repository. A job's `success()` and `failure()` check all its ancestors:
 * `${PAGES.expressions}#failure-with-conditions`. GitHub skips a job that needs a skipped job, unless its condition
 * says otherwise: `${PAGES.syntax}#jobsjob_idneeds`.
 */
export const runThere = (text: string, place: PlaceThere, github: Texts): Transcript => {
  const workflow = parse(text, { uniqueKeys: false }) as Workflow;
  const ends = new Map<string, JobEnd>();
  const artifacts = new Map<string, string>();
  const transcript: Transcript = { results: {}, lines: {} };
  const needsOf = ({ needs = [] }: Job): string[] => (typeof needs === "string" ? [needs] : needs);
  const ancestorsOf = (job: Job): string[] => needsOf(job).flatMap((key) => [key, ...ancestorsOf(workflow.jobs[key]!)]);
  const waiting = Object.keys(workflow.jobs);
  while (waiting.length > 0) {
    const next = waiting.findIndex((key) => needsOf(workflow.jobs[key]!).every((need) => ends.has(need)));
    const [key = ""] = waiting.splice(next, 1);
    const job = workflow.jobs[key]!;
    const contexts = {
      github: { ...github, job: key },
      runner: { os: "Linux" },
      needs: Object.fromEntries(needsOf(job).map((need) => [need, ends.get(need)])),
      ...{ vars: place.vars ?? {}, secrets: {}, env: {}, matrix: {} },
    };
    const before = ancestorsOf(job).map((need) => ends.get(need)!.result);
    const hasFailed = before.includes("failure");
    const functions = statusFunctions(
      hasFailed,
      before.every((result) => result === "success"),
    );
    if (!holds(job.if, contexts, functions)) {
      ends.set(key, { result: "skipped", outputs: {} });
      transcript.results[key] = "skipped";
      continue;
    }
    // A job of an environment waits for its reviewers, and fails if they reject it: `${PAGES.environments}`.
    if (job.environment !== undefined && !place.isApproved) {
      ends.set(key, { result: "failure", outputs: {} });
      transcript.results[key] = "failure";
      continue;
    }
    const { include = [], exclude = [], ...axes } = (job.strategy?.matrix ?? {}) as never as Record<string, never[]>;
    const results: Result[] = [];
    let outputs: Texts = {};
    for (const matrix of combinationsThere({ axes, include, exclude })) {
      // A failed combination cancels the others: `${PAGES.syntax}#jobsjob_idstrategyfail-fast`.
      if (results.includes("failure") && job.strategy?.["fail-fast"] !== false) {
        transcript.results[inBrackets(key, axes, matrix)] = "cancelled";
        continue;
      }
      const run = new JobRun(workflow, job, { ...contexts, matrix }, { ...place, artifacts });
      const end = job.uses === undefined ? run.run() : { result: "success" as const, outputs: {} };
      if (job.uses !== undefined) run.lines.push(`> ${job.uses} ran`);
      const mayFail = fill(job["continue-on-error"], { ...contexts, matrix }) === "true";
      outputs = { ...outputs, ...end.outputs };
      results.push(mayFail ? "success" : end.result);
      transcript.results[inBrackets(key, axes, matrix)] = end.result;
      transcript.lines[inBrackets(key, axes, matrix)] = run.lines;
    }
    ends.set(key, { result: results.includes("failure") ? "failure" : "success", outputs });
  }
  for (const folder of artifacts.values()) if (existsSync(folder)) rmSync(folder, { recursive: true });
  return transcript;
};
