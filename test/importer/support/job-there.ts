import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, matchesGlob } from "node:path";
import { parse } from "yaml";
import { fill, fillAll, holds, readFileCommands, shellCommand, statusFunctions } from "./github-words.ts";
import { filtersThere, setUpThere } from "./set-ups-there.ts";
import { filesUploadedFrom } from "./uploads-there.ts";

/* The part of the model that runs one job: its steps, one after the other. */

export type Result = "success" | "failure" | "skipped" | "cancelled";
export type Texts = Record<string, string>;

export interface Step {
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

export interface Job {
  needs?: string | string[];
  if?: unknown;
  uses?: string;
  environment?: unknown;
  strategy?: { "fail-fast"?: boolean; matrix?: Record<string, unknown> };
  env?: Record<string, unknown>;
  defaults?: { run?: { shell?: string; "working-directory"?: string } };
  outputs?: Texts;
  steps?: Step[];
  "continue-on-error"?: unknown;
}

export interface Workflow extends Pick<Job, "env" | "defaults"> {
  jobs: Record<string, Job>;
}

/** A file of an action that consists of steps. */
interface ActionFile {
  inputs?: Record<string, { default?: unknown }>;
  outputs?: Record<string, { value: string }>;
  runs: { steps?: Step[] };
}

/** What exists on GitHub beside the workflow. */
export interface PlaceThere {
  /** The folder with the workflow's repository. */
  repository: string;
  /** Folders with other repositories, by OWNER/NAME. */
  others?: Record<string, string>;
  /** The files that the push changed. */
  changed?: string[];
  /** Whether reviewers approve every deployment. */
  isApproved?: boolean;
  /** The repository's variables. */
  vars?: Texts;
}

interface StepEnd {
  isSuccess: boolean;
  outputs: Texts;
}

/** A job's run for one combination. */
export class JobRun {
  readonly #workflow: Workflow;
  readonly #job: Job;
  #contexts: Record<string, unknown>;
  readonly #artifacts: Map<string, string>;
  readonly #folder: string;
  readonly #temp: string;
  readonly #place: PlaceThere;
  readonly #env: Texts;
  #steps: Record<string, object> = {};
  readonly #masks: string[] = [];
  #path = "";
  #hasFailed = false;
  readonly lines: string[] = [];

  constructor(
    workflow: Workflow,
    job: Job,
    contexts: { github: Texts; [name: string]: unknown },
    place: PlaceThere & { artifacts: Map<string, string> },
  ) {
    this.#workflow = workflow;
    this.#job = job;
    this.#artifacts = place.artifacts;
    this.#place = place;
    this.#folder = mkdtempSync(join(tmpdir(), "github-model-"));
    this.#contexts = { ...contexts, github: { ...contexts.github, workspace: this.#folder } };
    this.#temp = join(this.#folder, "..", `${basename(this.#folder)}-temp`);
    mkdirSync(this.#temp);
    this.#contexts.runner = { ...(contexts.runner as object), temp: this.#temp };
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
      for (const one of [this.#folder, this.#temp]) rmSync(one, { recursive: true, force: true });
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

  #script(step: Step, env: Texts): StepEnd {
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
        ...{
          GITHUB_JOB: github.job,
          GITHUB_WORKSPACE: this.#folder,
          RUNNER_OS: "Linux",
          RUNNER_TEMP: this.#temp,
          ...env,
          ...files,
        },
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

  #action(step: Step, env: Texts): StepEnd {
    const [action = ""] = step.uses!.split("@");
    const inputs = fillAll(step.with, { ...this.#now, env });
    if (action.startsWith("./")) return this.#composite(action, inputs);
    const read = (path: string) => readFileSync(join(this.#folder, path), "utf8");
    const setUp = setUpThere(step.uses!, inputs, read, join(this.#folder, ".tools"));
    if (setUp) {
      if (setUp.path !== undefined) this.#path = `${setUp.path}:${this.#path}`;
      return setUp.commands.length === 0
        ? { isSuccess: true, outputs: {} }
        : this.#script({ shell: "bash", run: setUp.commands.join("\n") }, env);
    }
    if (action === "dorny/paths-filter")
      return { isSuccess: true, outputs: filtersThere(inputs.filters!, this.#place.changed ?? [], matchesGlob) };
    const isSuccess = this.#knownAction(action, inputs);
    if (isSuccess === undefined) this.lines.push(`> ${action} ran`);
    return { isSuccess: isSuccess ?? true, outputs: {} };
  }

  /** Runs the steps of the repository's own action: `${PAGES.actions}#runs-for-composite-actions`. */
  #composite(action: string, given: Texts): StepEnd {
    const folder = join(this.#folder, action);
    const file = parse(readFileSync(join(folder, "action.yml"), "utf8")) as ActionFile;
    if (file.runs.steps === undefined) {
      this.lines.push(`> ${action} ran`);
      return { isSuccess: true, outputs: {} };
    }
    const defaults = fillAll(
      Object.fromEntries(Object.entries(file.inputs ?? {}).map(([key, one]) => [key, one?.default])),
      this.#now,
    );
    const [contexts, steps, hadFailed] = [this.#contexts, this.#steps, this.#hasFailed];
    const github = { ...(contexts.github as object), action_path: folder };
    this.#contexts = { ...contexts, github, inputs: { ...defaults, ...given } };
    this.#steps = {};
    for (const step of file.runs.steps) this.#step({ ...step, "working-directory": step["working-directory"] ?? "." });
    const outputs = fillAll(
      Object.fromEntries(Object.entries(file.outputs ?? {}).map(([key, { value }]) => [key, value])),
      this.#now,
    );
    const isSuccess = !this.#hasFailed;
    [this.#contexts, this.#steps, this.#hasFailed] = [contexts, steps, hadFailed];
    return { isSuccess, outputs };
  }

  #knownAction(action: string, inputs: Texts): boolean | undefined {
    switch (action) {
      case "actions/checkout":
        cpSync(this.#repositoryIn(inputs), join(this.#folder, inputs.path ?? "."), { recursive: true });
        return true;
      case "actions/cache":
      case "actions/cache/restore":
        return inputs["fail-on-cache-miss"] !== "true";
      case "actions/cache/save":
      case "Swatinem/rust-cache":
        return true;
      case "actions/upload-artifact":
        return this.#upload(inputs);
      case "actions/download-artifact":
        return this.#download(inputs);
      default:
        return undefined;
    }
  }

  #repositoryIn({ repository }: Texts): string {
    return repository === undefined ? this.#place.repository : this.#place.others![repository]!;
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
