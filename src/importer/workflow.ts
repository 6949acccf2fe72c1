import { usesStatus } from "./expression-tree.ts";
import { translateJob } from "./job.ts";
import { writeFolder } from "./job-keys.ts";
import { Marks } from "./marks.ts";
import type { Names } from "./names.ts";
import { OutMap } from "./out.ts";
import type { Workflow } from "./read-workflow.ts";
import {
  conditionText,
  find,
  itemsOf,
  type Pair,
  pairsOf,
  type Source,
  tokenText,
  type WorkflowToken,
} from "./source.ts";
import { readStep, staticFolder, translateEnv, withEnv } from "./step.ts";
import { translateSuperseding, translateTriggers } from "./triggers.ts";
import { findArtifacts } from "./uploaded-artifacts.ts";

/* The jobs that a job must name in `needs`, so that `success()` and `failure()` consider the same jobs as on GitHub. */

interface NeedsOfJobs {
  needs: Map<string, string[]>;
  /** The jobs to which ancestors were added. */
  extended: Set<string>;
}

const readCondition = (job: WorkflowToken, source: Source): string | undefined => {
  const token = find(job, "if");
  return token && conditionText(token, source);
};

/**
 * Returns each job's needs. On GitHub `success()` and `failure()` consider all ancestors, here only directly needed
 * jobs. That differs if an ancestor may run although an earlier job failed or was skipped: then the job names its
 * ancestors.
 */
const needsOfJobs = (jobs: WorkflowToken, source: Source): NeedsOfJobs => {
  const direct = new Map<string, string[]>();
  const runsAnyway = new Map<string, boolean>();
  const looksBack = new Map<string, boolean>();
  const pairs = pairsOf(jobs);
  const keys = new Map(pairs.map(({ key }) => [key.toLowerCase(), key]));
  for (const { key, value } of pairs) {
    const needNames = itemsOf(find(value, "needs")).map((one) => tokenText(one, source));
    direct.set(key, [...new Set(needNames.map((one) => keys.get(one.toLowerCase()) ?? one))]);
    const condition = readCondition(value, source) ?? "";
    const hasStatus = usesStatus(condition);
    runsAnyway.set(key, hasStatus);
    looksBack.set(key, !hasStatus || /\b(?:success|failure)\s*\(/i.test(condition));
  }
  const findAncestors = (key: string, ancestors = new Set<string>()): Set<string> => {
    for (const one of direct.get(key) ?? []) {
      if (ancestors.has(one)) continue;
      ancestors.add(one);
      findAncestors(one, ancestors);
    }
    return ancestors;
  };
  const needs = new Map<string, string[]>();
  const extended = new Set<string>();
  for (const [key, own] of direct) {
    const all = [...findAncestors(key)];
    const isOpen = looksBack.get(key) && all.some((one) => runsAnyway.get(one) && (direct.get(one)?.length ?? 0) > 0);
    if (isOpen && all.length > own.length) extended.add(key);
    needs.set(key, isOpen ? [...own, ...all.filter((one) => !own.includes(one))] : own);
  }
  return { needs, extended };
};

/** Keys at the top of a workflow. Builds get no token of the git host, so `permissions` allow nothing here. */
const KNOWN = new Set(["name", "on", "env", "defaults", "concurrency", "jobs", "permissions"]);

interface Translation {
  file: OutMap;
  marks: Marks;
}

/** Describes a job for the jobs that need it. */
const describeJob = ({ key, value }: Pair) => ({
  key,
  hasMatrix: find(find(value, "strategy"), "matrix") !== undefined,
  outputs: pairsOf(find(value, "outputs")).map((pair) => pair.key),
});

/** Translates a workflow to a pipeline file. `withdrawn` are rejected parts with the reason: marks replace them. */
export const translateFile = (
  { root, source }: Workflow,
  name: string,
  withdrawn: ReadonlyMap<string, string>,
): Translation => {
  const marks = new Marks();
  const parts = new Map<string, OutMap>();
  const part = (key: string): OutMap => {
    parts.set(key, parts.get(key) ?? new OutMap());
    return parts.get(key)!;
  };
  const title = find(root, "name");
  const workflow = title ? tokenText(title, source) : name;
  if (title && workflow !== "" && !workflow.includes("${{")) part("name").set("name", workflow);
  for (const { key, value, line } of pairsOf(root))
    if (!KNOWN.has(key)) part(key).say(marks.add("unknown", `\`${key}\``, line, source.lines(value, line)));
  const { events, on, schedule, pushes } = translateTriggers(find(root, "on")!, source, marks, withdrawn);
  part("on").set("on", on);
  const { supersede, mark } = translateSuperseding(find(root, "concurrency"), events, source, marks);
  part(find(root, "concurrency") ? "concurrency" : "on")
    .say(mark)
    .set("supersede", supersede);
  if (schedule.items.length > 0) part("on").set("schedule", schedule);
  const hasPulls = events.has("pull_request");
  const names: Names = {
    ...{ workflow, job: null, hasPulls, pushes, matrix: [], needs: [], hasMoreNeeds: false, steps: [] },
    ...{ env: [], wrongEnv: [], lostEnv: [], isStrict: true, folder: "" },
  };
  const ofCheckout = new Map<string, string>();
  const env = translateEnv(find(root, "env"), names, { source, marks }, "env", withdrawn, ofCheckout);
  if (env?.items.length) part("env").set("env", env);
  const run = find(find(root, "defaults"), "run");
  const folder = find(run, "working-directory");
  if (folder) writeFolder(folder, { names, source }, part("defaults"));
  const shell = find(run, "shell");
  const pairs = pairsOf(find(root, "jobs"));
  const neededJobs = new Map(pairs.map((pair) => [pair.key, describeJob(pair)]));
  const { needs, extended } = needsOfJobs(find(root, "jobs")!, source);
  const steps = pairs.map(({ key, value }) => ({
    key,
    steps: itemsOf(find(value, "steps")).map((token) => readStep(token, source)),
  }));
  const artifacts = findArtifacts(steps, source);
  const namesInJobs = {
    ...withEnv(names, find(root, "env"), env, source, ofCheckout),
    folder: folder ? staticFolder(folder, source) : "",
  };
  const jobs = new OutMap();
  for (const pair of pairs) {
    const place = {
      ...{ source, marks, withdrawn, names: namesInJobs, artifacts },
      needs: (needs.get(pair.key) ?? []).flatMap((key) => neededJobs.get(key) ?? []),
      hasMoreNeeds: extended.has(pair.key),
      shell: shell && tokenText(shell, source),
    };
    jobs.say(...source.commentsOn(pair.line)).set(pair.key, translateJob(pair, place), `jobs.${pair.key}`);
  }
  part("jobs").set("jobs", jobs);
  const file = new OutMap();
  for (const { key, line } of pairsOf(root)) {
    const { items } = part(key);
    if (items.length > 0) file.say(...source.commentsOn(line)).items.push(...items);
  }
  return { file: file.say(...source.lastComments), marks };
};
