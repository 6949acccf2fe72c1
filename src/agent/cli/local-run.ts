import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { formatMistake } from "../../pipeline/mistake.ts";
import { KnownFiles, type ToInclude } from "../../pipeline/parse/included-files.ts";
import { parseFile } from "../../pipeline/parse/parse.ts";
import { ONLY_JOB } from "../../pipeline/parse/plan-contents.ts";
import { triggerWords } from "../../pipeline/triggers/triggers.ts";
import { byteSize, LIMITS } from "../../protocol/limits.ts";
import { localArtifacts } from "../artifacts/local-store.ts";
import type { BuildFile } from "../build/build-files.ts";
import { BuildFailure, Cancel } from "../build/failure.ts";
import { parsePlanOrFail, wholeText } from "../build/read-plan.ts";
import { NOT_UTF8, utf8Text } from "../checkout/commit-file.ts";
import { toInclude } from "../checkout/included-files.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { EXIT, ExitError } from "./exit-codes.ts";
import { type LocalRunOptions, runJobs, runLocalTries } from "./local-jobs.ts";
import { type LocalEnd, localFacts, runPlan } from "./local-plan.ts";
import { logger } from "./logger.ts";

/** Bytes of the largest file that a variable can hold. Text is stored unchanged, and other bytes as base64. */
const MOST_BYTES = LIMITS.valueBytes;

const readBytes = (path: string): Uint8Array => {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ExitError(`cannot read ${path} (${(error as NodeJS.ErrnoException).code})`, EXIT.usage);
  }
};

/** Reads the files for a run's variables, by variable name. @throws ExitError for an unreadable or too large file */
export const readLocalFiles = (paths: Record<string, string>): BuildFile[] =>
  Object.entries(paths).map(([key, path]) => {
    const bytes = readBytes(path);
    if (bytes.length > MOST_BYTES)
      throw new ExitError(
        `${path} is larger than ${byteSize(MOST_BYTES)}, the limit for a variable's file`,
        EXIT.usage,
      );
    return { key, name: basename(path), bytes };
  });

/** Returns the folder of a file's repository: the nearest folder above with `.git`, else the current folder. */
const repositoryRoot = (file: string): string => {
  for (let folder = dirname(resolve(file)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return process.cwd();
  }
};

/** Reads a file. `root` contains no links. Rejects a path through a link, whatever the link's target is. */
const readIn = (root: string, path: string): ToInclude => {
  const file = join(root, path);
  if (realpathSync.native(file) !== file)
    return { problem: `${path} leads through a symbolic link, or differs in letter case: use the file's real path` };
  const opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(opened);
    if (!stats.isFile()) return { problem: `${path} is not a regular file` };
    if (stats.size > LIMITS.definitionCharacters)
      return { problem: `${path} is larger than ${LIMITS.definitionCharacters} bytes` };
    return toInclude(readFileSync(opened), path);
  } finally {
    closeSync(opened);
  }
};

/** Reads a pipeline file's includes from its repository's folder as they are now. Reads nothing outside it. */
export const filesBeside = (file: string): KnownFiles => {
  const root = realpathSync.native(repositoryRoot(file));
  return new KnownFiles(new Map(), (path) => {
    try {
      return readIn(root, path);
    } catch (error) {
      return { problem: `${path} cannot be read in ${root} (${(error as NodeJS.ErrnoException).code})` };
    }
  });
};

const read = (file: string): string => {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new ExitError(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`, EXIT.usage);
  }
  const text = utf8Text(bytes);
  if (text === null) throw new ExitError(`${file} ${NOT_UTF8}`, EXIT.failed);
  return text;
};

/** Prints every mistake in a pipeline file as `file:line:column: message`. @returns the exit code */
export const checkFile = (file: string): number => {
  const { value, mistakes = [], hints = [] } = parseFile(read(file), filesBeside(file).find);
  for (const hint of hints) process.stdout.write(`${formatMistake(file, hint)} (hint)\n`);
  for (const mistake of mistakes) process.stdout.write(`${formatMistake(file, mistake)}\n`);
  if (value) logger.info(`${file} has no mistakes. Triggers: ${triggerWords(value.triggers.on)}`);
  return mistakes.length === 0 ? EXIT.done : EXIT.failed;
};

/** Converts one try's end, for a file with steps. */
const toTryEnd = (end: LocalEnd) => {
  const { error } = end.result ? { error: null } : end;
  const isTimeout = error instanceof Cancel && error.reason === "timeout";
  const reason = error instanceof BuildFailure ? error.reason : isTimeout ? ("timeout" as const) : null;
  const isCanceled = error instanceof Cancel && !isTimeout;
  const status = end.result?.succeeded ? "succeeded" : isCanceled ? "canceled" : "failed";
  return { end, status, reason } as const;
};

/** Runs a pipeline file in the current folder, as a build would run it. @returns the exit code */
export const runFile = async (
  file: string,
  { keep, ...given }: Omit<LocalRunOptions, "artifacts"> & { keep: string | null },
): Promise<number> => {
  const text = read(file);
  const folder = keep ?? mkdtempSync(join(tmpdir(), "millrace-artifacts-"));
  try {
    mkdirSync(folder, { recursive: true });
    const options = { ...given, artifacts: localArtifacts(folder) };
    const files = filesBeside(file);
    const plan = parsePlanOrFail(text, file, files.find);
    const includes = files.used;
    if (plan.jobs !== null) return await runJobs({ file, text, plan, includes, ...options });
    if (options.job !== null) throw new ExitError(`${file} has no jobs: omit --job`, EXIT.usage);
    const tryFacts = async (tree: ProcessTree, attempt: number) => {
      const { fixed, facts } = await localFacts(randomUUID(), wholeText({ text, includes }), options.env, tree);
      return { fixed, facts: { ...facts, build: { ...facts.build, attempt } } };
    };
    const run = async (attempt: number) =>
      toTryEnd(
        await runPlan({
          ...options,
          job: { key: ONLY_JOB, definition: ONLY_JOB, matrix: null },
          read: { file, text, plan, whole: plan, definition: null },
          readFacts: (tree) => tryFacts(tree, attempt),
        }),
      );
    const { end } = await runLocalTries({ name: file, retry: plan.retry, signal: options.signal, run });
    if (end.result) return end.result.succeeded ? EXIT.done : (end.result.exitCode ?? EXIT.failed);
    throw end.error;
  } catch (error) {
    if (error instanceof Cancel)
      logger.error(error.reason === "timeout" ? "the run exceeded its time limit" : "the run was stopped");
    else if (error instanceof BuildFailure) logger.error(error.message);
    else throw error;
    return error instanceof Cancel && error.reason === "canceled" ? EXIT.interrupted : EXIT.failed;
  } finally {
    if (keep === null) rmSync(folder, { recursive: true, force: true });
  }
};
