import { jobOf } from "./job.ts";
import { jobsLeavingOf } from "./kept-files.ts";
import { Marks } from "./marks.ts";
import type { Names } from "./names.ts";
import { needsOfJobs } from "./needs.ts";
import { OutMap } from "./out.ts";
import type { Workflow } from "./read-workflow.ts";
import { readStep, translateEnv } from "./step.ts";
import { supersedingOf } from "./superseding.ts";
import { find, isExpression, itemsOf, lineOf, type Pair, pairsOf, textOf } from "./tokens.ts";
import { translateTriggers } from "./triggers.ts";

/** Keys at the top of a workflow that only leave a comment. */
const MARKED = { "run-name": "unknown", permissions: "permissions" } as const;
const KNOWN = new Set(["name", "on", "env", "defaults", "concurrency", "jobs", ...Object.keys(MARKED)]);

interface Written {
  file: OutMap;
  marks: Marks;
}

/** What a job shows of itself to those that need it. */
const shownOf = ({ key, value }: Pair) => ({
  key,
  hasMatrix: find(find(value, "strategy"), "matrix") !== undefined,
  outputs: pairsOf(find(value, "outputs")).map((pair) => pair.key),
});

/** The pipeline file of a workflow. `withdrawn` are parts that were refused, with the reason: marks take their places. */
export const fileOf = ({ root, source }: Workflow, name: string, withdrawn: ReadonlyMap<string, string>): Written => {
  const marks = new Marks();
  const file = new OutMap();
  const title = find(root, "name");
  const workflow = title ? textOf(title, source) : name;
  if (title && workflow !== "" && !workflow.includes("${{")) file.set("name", workflow);
  for (const { key, value, line } of pairsOf(root)) {
    if (Object.hasOwn(MARKED, key))
      file.say(marks.add(MARKED[key as keyof typeof MARKED], `\`${key}\``, line, source.lines(value, line)));
    else if (!KNOWN.has(key)) file.say(marks.add("unknown", `\`${key}\``, line, source.lines(value, line)));
  }
  const { events, on, schedule } = translateTriggers(find(root, "on")!, source, marks, withdrawn);
  file.set("on", on);
  const { supersede, mark } = supersedingOf(find(root, "concurrency"), events, source, marks);
  file.say(mark).set("supersede", supersede);
  if (schedule.items.length > 0) file.set("schedule", schedule);
  const hasPulls = events.has("pull_request");
  const top: Names = {
    ...{ workflow, job: null, hasPulls, matrix: [], needs: [], hasMoreNeeds: false, steps: [], env: [], wrongEnv: [] },
    isStrict: true,
  };
  const env = translateEnv(find(root, "env"), top, { source, marks }, "env", withdrawn);
  if (env) file.set("env", env);
  const run = find(find(root, "defaults"), "run");
  const folder = find(run, "working-directory");
  if (folder && isExpression(folder))
    file.say(marks.add("expression", "`working-directory` that is computed", lineOf(folder), source.lines(folder)));
  else if (folder)
    file.set("defaults", new OutMap().set("run", new OutMap().set("working-directory", textOf(folder, source))));
  const shell = find(run, "shell");
  const pairs = pairsOf(find(root, "jobs"));
  const shown = new Map(pairs.map((pair) => [pair.key, shownOf(pair)]));
  const { needs, extended } = needsOfJobs(find(root, "jobs")!, source);
  const steps = pairs.map(({ key, value }) => ({
    key,
    steps: itemsOf(find(value, "steps")).map((token) => readStep(token, source)),
  }));
  const jobsLeaving = jobsLeavingOf(steps, source);
  const jobs = new OutMap();
  for (const pair of pairs) {
    const own = (needs.get(pair.key) ?? []).flatMap((key) => shown.get(key) ?? []);
    const place = {
      ...{
        source,
        marks,
        withdrawn,
        workflow,
        hasPulls,
        needs: own,
        hasMoreNeeds: extended.has(pair.key),
        jobsLeaving,
      },
      ...{ env: pairsOf(find(root, "env")).map(({ key }) => key), shell: shell && textOf(shell, source) },
    };
    jobs.say(source.commentAbove(pair.line)).set(pair.key, jobOf(pair, place), `jobs.${pair.key}`);
  }
  return { file: file.set("jobs", jobs), marks };
};
