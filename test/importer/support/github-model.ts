import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, matchesGlob } from "node:path";
import { parse } from "yaml";
import { fill, fillAll, holds, readFileCommands, shellCommand, statusFunctions } from "./github-words.ts";
import { type Combination, combinationsThere } from "./matrix-there.ts";
import { filesUploadedFrom } from "./uploads-there.ts";

/*
 * A model of GitHub's behaviour, small enough to compare with the documentation. Each documented rule names its page.
 * It runs the scripts: jobs in sequence, each in a copy of the checkout, with a cache that is always empty. An unknown
 * action prints that it ran.
 */

type Result = "success" | "failure" | "skipped";
type Texts = Record<string, string>;

interface Step {
  id?: string;
  if?: unknown;
  run?: string;
  uses?: string;
  with?: Record<string, unknown>;
  env?: Record<string, unknown>;
  shell?: string;
  "working-directory"?: string;
  "continue-on-error"?: unknown;
}

interface Job {
  needs?: string | string[];
  if?: unknown;
  uses?: string;
  strategy?: { matrix?: Record<string, unknown> };
  env?: Record<string, unknown>;
  defaults?: { run?: { shell?: string; "working-directory"?: string } };
  outputs?: Texts;
  steps?: Step[];
  "continue-on-error"?: unknown;
}

interface Workflow extends Pick<Job, "env" | "defaults"> {
  jobs: Record<string, Job>;
}

/** A run's result: each job's end, and the lines that begin with `> `, by the job's key with its combination. */
export interface Transcript {
  results: Record<string, Result>;
  lines: Record<string, string[]>;
}

/** A job's run for one combination. */
class JobRun {
  readonly #workflow: Workflow;
  readonly #job: Job;
  readonly #contexts: Record<string, unknown>;
  readonly #artifacts: Map<string, string>;
  readonly #folder: string;
  readonly #repository: string;
  readonly #env: Texts;
  readonly #steps: Record<string, object> = {};
  readonly #masks: string[] = [];
  #path = "";
  #hasFailed = false;
  readonly lines: string[] = [];

  constructor(
    workflow: Workflow,
    job: Job,
    contexts: { github: Texts; [name: string]: unknown },
    place: { artifacts: Map<string, string>; repository: string },
  ) {
    this.#workflow = workflow;
    this.#job = job;
    this.#artifacts = place.artifacts;
    this.#repository = place.repository;
    this.#folder = mkdtempSync(join(tmpdir(), "github-model-"));
    this.#contexts = { ...contexts, github: { ...contexts.github, workspace: this.#folder } };
    const ofFile = fillAll(workflow.env, this.#contexts);
    this.#env = { ...ofFile, ...fillAll(job.env, { ...this.#contexts, env: ofFile }) };
  }

  get #now(): object {
    const job = { status: this.#hasFailed ? "failure" : "success" };
    return { ...this.#contexts, env: this.#env, steps: this.#steps, job };
  }

  run(): { result: Result; outputs: Texts } {
    try {
      for (const step of this.#job.steps ?? []) this.#step(step);
      const outputs = fillAll(this.#job.outputs, this.#now);
      return { result: this.#hasFailed ? "failure" : "success", outputs };
    } finally {
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  #step(step: Step): void {
    const functions = statusFunctions(this.#hasFailed);
    const own = { ...this.#env, ...fillAll(step.env, this.#now) };
    let outcome: Result = "skipped";
    let outputs: Texts = {};
    if (holds(step.if, { ...this.#now, env: own }, functions)) {
      const ran = step.run === undefined ? this.#action(step, own) : this.#script(step, own);
      outcome = ran.isSuccess ? "success" : "failure";
      ({ outputs } = ran);
    }
    const mayFail = step["continue-on-error"] === true;
    const conclusion = outcome === "failure" && mayFail ? "success" : outcome;
    if (conclusion === "failure") this.#hasFailed = true;
    if (step.id !== undefined) this.#steps[step.id] = { outcome, conclusion, outputs };
  }

  #script(step: Step, env: Texts): { isSuccess: boolean; outputs: Texts } {
    const folder = mkdtempSync(join(tmpdir(), "github-step-"));
    const files = Object.fromEntries(
      ["OUTPUT", "ENV", "PATH", "STEP_SUMMARY"].map((name) => [`GITHUB_${name}`, join(folder, name)]),
    );
    for (const file of Object.values(files)) writeFileSync(file, "");
    const contexts = { ...this.#now, env };
    const script = join(folder, "script");
    writeFileSync(script, fill(step.run, contexts));
    const defaults = { ...this.#workflow.defaults?.run, ...this.#job.defaults?.run };
    const [command = "", ...args] = shellCommand(step.shell ?? defaults.shell, script);
    const at = fill(step["working-directory"] ?? defaults["working-directory"], contexts);
    const github = this.#contexts.github as Texts;
    const { status, stdout } = spawnSync(command, args, {
      cwd: join(this.#folder, at),
      encoding: "utf8",
      env: {
        ...{ HOME: process.env.HOME, PATH: `${this.#path}${process.env.PATH}`, CI: "true", GITHUB_ACTIONS: "true" },
        // Some of every step's variables: `${PAGES.variables}#default-environment-variables`.
        ...{ GITHUB_SHA: github.sha, GITHUB_REF_NAME: github.ref_name, GITHUB_REF: github.ref },
        ...{ GITHUB_JOB: github.job, GITHUB_WORKSPACE: this.#folder, RUNNER_OS: "Linux", ...env, ...files },
      },
    });
    const outputs = this.#read(stdout);
    Object.assign(outputs, readFileCommands(readFileSync(files.GITHUB_OUTPUT!, "utf8")));
    Object.assign(this.#env, readFileCommands(readFileSync(files.GITHUB_ENV!, "utf8")));
    for (const line of readFileSync(files.GITHUB_PATH!, "utf8").split("\n"))
      if (line) this.#path = `${line}:${this.#path}`;
    rmSync(folder, { recursive: true });
    return { isSuccess: status === 0, outputs };
  }

  /** Reads commands and lines from a script's output: `${PAGES.commands}`. */
  #read(stdout: string): Texts {
    const outputs: Texts = {};
    for (const line of stdout.split("\n")) {
      const [, mask] = /^::add-mask::(.+)$/.exec(line) ?? [];
      const [, name, value = ""] = /^::set-output name=(\w+)::(.*)$/.exec(line) ?? [];
      if (mask !== undefined) this.#masks.push(mask);
      if (name !== undefined) outputs[name] = value;
      if (line.startsWith("> ")) this.lines.push(this.#masks.reduce((text, one) => text.replaceAll(one, "***"), line));
    }
    return outputs;
  }

  #action(step: Step, env: Texts): { isSuccess: boolean; outputs: Texts } {
    const [action = ""] = step.uses!.split("@");
    const inputs = fillAll(step.with, { ...this.#now, env });
    const isSuccess = this.#knownAction(action, inputs);
    if (isSuccess === undefined) this.lines.push(`> ${action} ran`);
    return { isSuccess: isSuccess ?? true, outputs: {} };
  }

  #knownAction(action: string, inputs: Texts): boolean | undefined {
    switch (action) {
      case "actions/checkout":
        cpSync(this.#repository, join(this.#folder, inputs.path ?? "."), { recursive: true });
        return true;
      case "actions/cache":
      case "actions/cache/restore":
        return inputs["fail-on-cache-miss"] !== "true";
      case "actions/cache/save":
        return true;
      case "actions/upload-artifact":
        return this.#upload(inputs);
      case "actions/download-artifact":
        return this.#download(inputs);
      default:
        return undefined;
    }
  }

  #upload({ name = "artifact", path = "", ...inputs }: Texts): boolean {
    const files = filesUploadedFrom(this.#folder, path, inputs["include-hidden-files"] === "true");
    if (files.length === 0) return inputs["if-no-files-found"] !== "error";
    const kept = mkdtempSync(join(tmpdir(), "github-artifact-"));
    for (const [from, to] of files) {
      mkdirSync(dirname(join(kept, to)), { recursive: true });
      cpSync(join(this.#folder, from), join(kept, to));
    }
    this.#artifacts.set(name, kept);
    return true;
  }

  #download({ name, path = ".", pattern = "*", ...inputs }: Texts): boolean {
    if (name !== undefined && !this.#artifacts.has(name)) return false;
    const isMeant = (one: string) => (name === undefined ? matchesGlob(one, pattern) : one === name);
    const isApart = name === undefined && inputs["merge-multiple"] !== "true";
    for (const [one, kept] of this.#artifacts)
      if (isMeant(one)) cpSync(kept, join(this.#folder, path, isApart ? one : "."), { recursive: true });
    return true;
  }
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
export const runThere = (text: string, repository: string, github: Texts): Transcript => {
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
      ...{ vars: {}, secrets: {}, env: {}, matrix: {} },
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
    const { include = [], exclude = [], ...axes } = (job.strategy?.matrix ?? {}) as never as Record<string, never[]>;
    const results: Result[] = [];
    let outputs: Texts = {};
    for (const matrix of combinationsThere({ axes, include, exclude })) {
      const run = new JobRun(workflow, job, { ...contexts, matrix }, { artifacts, repository });
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
