import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename } from "node:path";
import { refOf } from "../../domain/git-ref.ts";
import { triggerWords } from "../../domain/githost/trigger-words.ts";
import type { JobContext } from "../../domain/plan/job-context.ts";
import { formatMistake } from "../../domain/plan/mistake.ts";
import { parseFile } from "../../domain/plan/parse.ts";
import { endAndRemoveBuild, makeBuildFolder } from "../build-folder.ts";
import { git } from "../checkout/git.ts";
import { asksForChanges } from "../errand.ts";
import { BuildFailure, Cancel } from "../failure.ts";
import { BuildLog } from "../log/build-log.ts";
import { cancelAfter } from "../perform-build.ts";
import { ProcessTree } from "../process/process-tree.ts";
import { parsePlanOrFail } from "../read-plan.ts";
import { runSteps } from "../steps/run-steps.ts";
import { buildVariables } from "../steps/step-environment.ts";
import { platformName } from "./capabilities.ts";
import { EXIT, ExitError } from "./exit-codes.ts";
import { localChanges } from "./local-changes.ts";
import { logger } from "./logger.ts";

export interface LocalRunOptions {
  env: Record<string, string>;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  signal: AbortSignal;
}

const LOCAL = "local";

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ExitError(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`, EXIT.usage);
  }
};

/** Prints every mistake of a pipeline file as `file:line:column: message`. @returns the exit code. */
export const checkFile = (file: string): number => {
  const { value, mistakes = [], hints = [] } = parseFile(read(file));
  for (const hint of hints) process.stdout.write(`${formatMistake(file, hint)} (a hint)\n`);
  for (const mistake of mistakes) process.stdout.write(`${formatMistake(file, mistake)}\n`);
  if (value) logger.info(`${file} has no mistakes. Builds: ${triggerWords(value.triggers.on)}`);
  return mistakes.length === 0 ? EXIT.done : EXIT.failed;
};

/** Runs a pipeline file in the current folder, as a build would run it. @returns the exit code. */
export const runFile = async (file: string, { env, grace, signal }: LocalRunOptions): Promise<number> => {
  const text = read(file);
  const id = randomUUID();
  const cancel = new AbortController();
  const onSignal = (): void => cancel.abort(new Cancel("canceled"));
  signal.addEventListener("abort", onSignal, { once: true });
  const log = new BuildLog([], standardOutput(), (error) => cancel.abort(error));
  const folder = await makeBuildFolder(tmpdir(), null);
  const tree = new ProcessTree(id, { cgroup: folder.cgroup, folder: folder.path });
  let deadline: NodeJS.Timeout | null = null;
  try {
    const plan = parsePlanOrFail(text, file);
    if (plan.job.timeoutMinutes !== null) deadline = cancelAfter(plan.job.timeoutMinutes * 60, cancel);
    const { fixed, facts } = await localFacts(id, text, env, tree);
    const { succeeded, exitCode } = await runSteps({
      plan,
      file,
      fixed,
      facts,
      tree,
      log,
      grace,
      folder: { ...folder, workspace: process.cwd() },
      user: null,
      signal: cancel.signal,
      abandon: new AbortController().signal,
      listener: { steps: () => {}, masks: () => {}, summary: () => {} },
    });
    return succeeded ? EXIT.done : (exitCode ?? EXIT.failed);
  } catch (error) {
    if (error instanceof Cancel)
      logger.error(error.reason === "timeout" ? "the run reached its time limit" : "the run was stopped");
    else if (error instanceof BuildFailure) logger.error(log.mask(error.message));
    else throw error;
    return error instanceof Cancel && error.reason === "canceled" ? EXIT.interrupted : EXIT.failed;
  } finally {
    if (deadline) clearTimeout(deadline);
    signal.removeEventListener("abort", onSignal);
    await tree.terminate(grace);
    log.flush();
    await endAndRemoveBuild(folder.path, null, grace);
  }
};

const standardOutput = () => {
  let size = 0;
  return {
    get size() {
      return size;
    },
    write: (bytes: Uint8Array): void => {
      size += bytes.length;
      process.stdout.write(bytes);
    },
  };
};

/** The folder needs no repository and no commit: the facts then say "local" or null. */
const localFacts = async (id: string, text: string, env: Record<string, string>, tree: ProcessTree) => {
  const gitContext = { folder: process.cwd(), protocols: [], tree };
  const [head, commit, { base, files }] = await Promise.all([
    git(gitContext, ["rev-parse", "--abbrev-ref", "HEAD"]),
    git(gitContext, ["rev-parse", "HEAD"]),
    asksForChanges(text) ? localChanges(gitContext) : { base: null, files: null },
  ]);
  const branch = head.code === 0 ? head.stdout.toString("utf8").trim() : LOCAL;
  const commitSha = commit.code === 0 ? commit.stdout.toString("latin1").trim() : null;
  const fullName = basename(process.cwd());
  const build = { id, number: 0, branch, ref: refOf(branch), event: LOCAL, tag: null, pull: null, schedule: null };
  const names = { build, repository: { fullName }, pipeline: { name: LOCAL } };
  const fixed = { ...tree.env, ...buildVariables(names, { commitSha, base }, LOCAL, "") };
  const facts: JobContext = {
    env: { CI: "true", ...env, ...fixed },
    secretKeys: [],
    runKeys: Object.keys(env),
    build: { ...build, base, commit: commitSha, message: null, attempt: 1, trigger: LOCAL },
    changedFiles: files,
    repository: { id: "", fullName, cloneUrl: "" },
    agent: { id: "", name: LOCAL, platform: platformName() },
  };
  return { fixed, facts };
};
