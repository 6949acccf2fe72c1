import { answerChanged, changedWork } from "../../pipeline/expression/changed.ts";
import { type Questions, questionsOf } from "../../pipeline/graph/questions.ts";
import type { JobLog } from "../log/build-log.ts";
import type { BuildCalls } from "../wire/build-calls.ts";
import type { ComparedFiles } from "./job-facts.ts";
import type { PlanRead } from "./read-plan.ts";

interface PlanJobsOptions {
  /** Where the file lies in the repository. */
  path: string;
  commitSha: string;
  comparison: ComparedFiles;
  calls: BuildCalls;
  log: JobLog;
  /** Called when the lease is over. */
  letGo: () => void;
}

/** Whether the commit changed what conditions of jobs ask for. It is not known without `files`, and counts as changed. */
export const changedAnswers = ({ changed }: Questions, files: readonly string[] | null): Record<string, boolean> => {
  const work = changedWork();
  return Object.fromEntries(changed.map((one) => [one, files === null || answerChanged(one, files, work)]));
};

/**
 * Sends the file to the service, which plans the jobs of it, and says whether the commit changed what they ask for. No
 * code of the repository runs for it. @throws BuildFailure, Cancel
 */
export const planJobs = async ({ text, plan, includes = [] }: PlanRead, options: PlanJobsOptions): Promise<void> => {
  const { path, commitSha, comparison, calls, log, letGo } = options;
  const { base, files } = comparison;
  const changed = changedAnswers(questionsOf(plan), files);
  const more = { ...(base === null ? {} : { base }), ...(includes.length === 0 ? {} : { includes }) };
  const body = { commitSha, path, text, changed, ...more };
  log.say(`--- Plan of the jobs in ${path}`);
  const keys = await calls.plan(body);
  letGo();
  log.say([`planned ${keys.length} job${keys.length === 1 ? "" : "s"}:`, ...keys.map((key) => `  ${key}`)].join("\n"));
};
