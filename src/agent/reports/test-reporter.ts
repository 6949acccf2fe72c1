import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { JUnitReader, REPORT_LIMITS, ReportRefused, type TestCase } from "../../domain/reports/parse-junit.ts";
import {
  countTests,
  foldTries,
  type IdentifiedTest,
  reportToSend,
  type TestResult,
  testIdentity,
} from "../../domain/reports/report-to-send.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { type ReportedTests, type TestWarning, testsInWords } from "../../protocol/test-report.ts";
import { KIB } from "../../protocol/units.ts";
import { BuildFailure, ReportNotTaken } from "../build/failure.ts";
import { type CollectedFiles, collectFiles, type FilePlace, FileProblem } from "../files/file-helper.ts";
import { shownPath, sizeInWords } from "../files/file-words.ts";
import type { JobLog } from "../log/job-log.ts";
import type { StepsResult } from "../steps/run-steps.ts";

/**
 * Returns a decoder for an XML file in pieces, chosen by the file's byte order mark or first line
 * (https://www.w3.org/TR/xml, F.1).
 */
const reportDecoder = (bytes: Uint8Array): TextDecoder => {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be");
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le");
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
  return decoderFor(/^[^<]*<\?xml[^>]*encoding=["']([\w.-]{1,40})["']/.exec(head)?.[1] ?? "utf-8");
};

const decoderFor = (label: string): TextDecoder => {
  try {
    // A text that is readable byte by byte is not UTF-16, even if it declares that encoding.
    return new TextDecoder(/^utf-?16/i.test(label) ? "utf-8" : label);
  } catch {
    return new TextDecoder();
  }
};

/** Bytes of a report to read before other work gets a turn, such as a heartbeat or a cancel. */
export const TURN_BYTES = 256 * KIB;

/** The contents of a job's report files. */
interface ReadReports {
  cases: TestCase[];
  warnings: TestWarning[];
}

/** Reads the reports at these patterns, with the rights of the steps' user. Turns every error into a warning. */
export const readReports = async (place: FilePlace, patterns: string[]): Promise<ReadReports> => {
  const read: ReadReports = { cases: [], warnings: [] };
  try {
    const request = { paths: patterns, asTar: null, atMost: LIMITS.testReportFiles, isLenient: true };
    await collectFiles(place, request, (collected) => readAll(collected, patterns, read, place.signal));
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    read.warnings.push({ file: null, message: `Cannot read test reports: ${error.message}` });
  }
  return read;
};

const readAll = async (
  { files, leftOut, bytes }: CollectedFiles,
  patterns: string[],
  read: ReadReports,
  signal: AbortSignal,
): Promise<void> => {
  for (const line of leftOut) read.warnings.push({ file: null, message: `Left out: ${line}` });
  // A file's name is its path below the pattern's fixed part. If a pattern names the file in full, the name is the
  // path's last part.
  const isNamed = (path: string): boolean => patterns.some((pattern) => `/${pattern}`.endsWith(`/${path}`));
  const isReport = (path: string): boolean => /\.xml$/i.test(path) || isNamed(path);
  if (!files.some(({ path }) => isReport(path)))
    read.warnings.push({ file: null, message: `Found no test report: no file matches ${patterns.join(", ")}` });
  if (files.length === 0) return;
  const from = new PiecesOf(bytes());
  let total = 0;
  for (const { path, size } of files) {
    const file = shownPath(path);
    if (!isReport(path)) {
      await from.skip(size);
      continue;
    }
    total += size;
    if (total > REPORT_LIMITS.jobBytes) {
      const most = sizeInWords(REPORT_LIMITS.jobBytes);
      read.warnings.push({ file, message: `Skipped this report and all after it: together they exceed ${most}` });
      return;
    }
    if (size > REPORT_LIMITS.fileBytes) {
      await from.skip(size);
      read.warnings.push({
        file,
        message: `Skipped: the report is larger than ${sizeInWords(REPORT_LIMITS.fileBytes)}`,
      });
    } else await readOne(file, await from.take(size), read, signal);
  }
};

/** Reads one report. @throws the signal's reason when it was aborted meanwhile */
const readOne = async (file: string, bytes: Buffer, read: ReadReports, signal: AbortSignal): Promise<void> => {
  const decoder = reportDecoder(bytes);
  const reader = new JUnitReader(REPORT_LIMITS.jobCases - read.cases.length);
  try {
    for (let at = 0; at < bytes.length; at += TURN_BYTES) {
      reader.push(decoder.decode(bytes.subarray(at, at + TURN_BYTES), { stream: true }));
      await nextTurn();
      signal.throwIfAborted();
    }
    reader.push(decoder.decode());
    for (const one of reader.end()) read.cases.push(one);
  } catch (error) {
    if (!(error instanceof ReportRefused)) throw error;
    read.warnings.push({ file, message: `The report ${error.message}` });
  }
};

/** Splits a stream of several files' bytes. */
class PiecesOf {
  readonly #pieces: AsyncGenerator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncGenerator<Buffer>) {
    this.#pieces = pieces;
  }

  async take(size: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    await this.#each(size, (piece) => pieces.push(piece));
    return Buffer.concat(pieces);
  }

  skip(size: number): Promise<void> {
    return this.#each(size, () => {});
  }

  async #each(size: number, use: (piece: Buffer) => void): Promise<void> {
    for (let bytesLeft = size; bytesLeft > 0; ) {
      if (this.#rest.length === 0) {
        const next = await this.#pieces.next();
        if (next.done) throw new FileProblem("the agent's file helper sent an unexpected answer");
        this.#rest = next.value;
      }
      const piece = this.#rest.subarray(0, bytesLeft);
      this.#rest = this.#rest.subarray(piece.length);
      bytesLeft -= piece.length;
      use(piece);
    }
  }
}

const ID_CHARACTERS = 16;

/**
 * Adds an id to each test. A test has the same id in every build. If several tests have the same names, their order
 * distinguishes the later ones.
 */
const withIds = (jobKey: string, results: readonly TestResult[]): IdentifiedTest[] => {
  const counts = new Map<string, number>();
  return results.map((result) => {
    const identity = testIdentity(result);
    const index = counts.get(identity) ?? 0;
    counts.set(identity, index + 1);
    const parts = JSON.stringify([jobKey, identity, ...(index === 0 ? [] : [index])]);
    return { ...result, id: createHash("sha256").update(parts).digest("hex").slice(0, ID_CHARACTERS) };
  });
};

/** Sends a report. @returns the ids of tests that failed in other builds of the same commit */
type SendTests = (report: ReportedTests) => Promise<string[]>;

export interface TestReporterOptions {
  place: FilePlace;
  log: JobLog;
  /** The job's key in its file. */
  jobKey: string;
  /** Patterns for the report files. */
  junit: string[];
  send: SendTests;
  /** Writes the failures to the log, for a run without a page. */
  tellsFailures: boolean;
}

/**
 * Runs a job's steps, then reports their test results. Does not change the steps' result.
 * @throws the errors of `run`; Cancel when the build must stop
 */
export const reportAround = async (
  options: TestReporterOptions,
  run: () => Promise<StepsResult>,
): Promise<StepsResult> => {
  if (options.junit.length === 0) return run();
  const result = await run().catch(async (error: unknown) => {
    if (error instanceof BuildFailure) await reportTests(options);
    throw error;
  });
  await reportTests(options);
  return result;
};

const reportTests = async (options: TestReporterOptions): Promise<void> => {
  const { place, junit, log, jobKey, send } = options;
  log.begin("Test reports");
  const read = await readReports(place, junit);
  for (const { file, message } of read.warnings) log.say(`Warning: ${file === null ? "" : `${file}: `}${message}`);
  const results = withIds(jobKey, foldTries(read.cases));
  if (results.length > 0) log.say(`tests: ${testsInWords(countTests(results))}`);
  if (options.tellsFailures) tellFailures(results, log);
  await sendAll(results, read, send, log).catch((error: unknown) => {
    if (!(error instanceof ReportNotTaken)) throw error;
    log.say(`Warning: cannot send the test report: ${error.message}`);
  });
};

/** Sends the report. Resends it if tests passed here that failed elsewhere on the same commit. */
const sendAll = async (
  results: IdentifiedTest[],
  { warnings }: ReadReports,
  send: SendTests,
  log: JobLog,
): Promise<void> => {
  const report = reportToSend(results, warnings, (text) => log.mask(text));
  const failedBefore = new Set(await send(report));
  if (failedBefore.size === 0) return;
  const isPassed = ({ id, outcome }: IdentifiedTest): boolean => outcome === "passed" && failedBefore.has(id);
  const passedIds = results.filter(isPassed).map(({ id }) => id);
  if (passedIds.length > 0) await send({ ...report, passed: passedIds });
};

const tellFailures = (results: readonly IdentifiedTest[], log: JobLog): void => {
  for (const { outcome, suite, className, name, message, text } of results) {
    if (outcome !== "failed") continue;
    log.say(`failed: ${[suite, className, name].filter(Boolean).join(" > ")}`);
    const words = text === "" ? message : text;
    if (words !== "") log.say(words.replace(/^/gm, "    "));
  }
};
