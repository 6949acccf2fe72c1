import { chmodSync } from "node:fs";
import { onTestFinished } from "vitest";
import { endAndRemoveBuild, makeBuildFolder } from "../../../src/agent/build/build-folder.ts";
import { parsePlanOrFail } from "../../../src/agent/build/read-plan.ts";
import { JobLog } from "../../../src/agent/log/job-log.ts";
import { ProcessTree } from "../../../src/agent/process/process-tree.ts";
import { chownTree, type StepUser } from "../../../src/agent/process/step-user.ts";
import { runSteps } from "../../../src/agent/steps/run-steps.ts";
import type { Plan } from "../../../src/pipeline/parse/plan.ts";
import type { Step } from "../../../src/protocol/build.ts";
import { BY_REQUEST } from "../../support/build-facts.ts";
import { testFolder } from "./folder.ts";

export interface PlanToTry {
  change?: (plan: Plan) => void;
  user?: StepUser | null;
  signal?: AbortSignal;
  /** Receives the whole log after each new piece. */
  onLog?: (log: string) => void;
}

/** Runs a file's steps in a new folder, and returns all their reports. */
export const runPlan = async (text: string, options: PlanToTry = {}) => {
  const { change = () => {}, user = null, signal = new AbortController().signal, onLog = () => {} } = options;
  const parts: Uint8Array[] = [];
  const whole = (): string => Buffer.concat(parts).toString();
  const sink = {
    get size() {
      return Buffer.concat(parts).length;
    },
    write: (bytes: Uint8Array) => {
      parts.push(bytes);
      onLog(whole());
    },
  };
  const log = new JobLog([], sink, () => {});
  const work = testFolder();
  chmodSync(work, 0o711);
  const folder = await makeBuildFolder(work, user);
  const tree = new ProcessTree(crypto.randomUUID(), { user, cgroup: folder.cgroup, folder: folder.path });
  if (user) chownTree(user, folder.workspace);
  onTestFinished(async () => {
    await endAndRemoveBuild(folder.path, user, 0);
  });
  const told = { steps: [] as Step[][], masks: [] as string[], summary: "" };
  const plan = parsePlanOrFail(text, "p.yml");
  change(plan);
  const result = await runSteps({
    plan,
    facts: {
      ...{ env: {}, secretKeys: [], runKeys: [] },
      build: { id: "b", number: 1, branch: "main", commit: null, message: null, attempt: 1, ...BY_REQUEST },
      repository: { id: "r", fullName: "a/b", cloneUrl: "" },
      agent: { id: "a", name: "wheel", platform: "linux" },
    },
    ...{ file: "p.yml", fixed: tree.env, abandon: new AbortController().signal, folder, tree, log, user, signal },
    listener: {
      steps: (steps) => void told.steps.push(steps),
      masks: (masks) => void told.masks.push(...masks),
      summary: (more) => {
        told.summary += more;
      },
    },
    artifacts: { keep: () => Promise.reject(new Error("No step of these names an artifact")) },
    grace: 100,
  }).then(
    (value) => ({ value, error: null }),
    (error: unknown) => ({ value: null, error }),
  );
  await tree.terminate(100);
  log.flush();
  return { ...result, log: whole(), told, folder };
};
