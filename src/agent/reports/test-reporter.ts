import { createHash } from "node:crypto";
import { countTests, foldTries, identityOf, type TestResult } from "../../domain/reports/fold-tries.ts";
import { type IdentifiedTest, reportToSend } from "../../domain/reports/report-to-send.ts";
import type { ReportedTests } from "../../protocol/test-report.ts";
import { testsInWords } from "../../protocol/test-words.ts";
import { BuildFailure, ReportNotTaken } from "../build/failure.ts";
import type { FilePlace } from "../files/file-helper.ts";
import type { JobLog } from "../log/build-log.ts";
import type { StepsResult } from "../steps/run-steps.ts";
import { type ReadReports, readReports } from "./read-reports.ts";

const ID_CHARACTERS = 16;

/** Each with an id that is the same in every build: of tests with the same names, the later ones by their order. */
const withIds = (jobKey: string, results: readonly TestResult[]): IdentifiedTest[] => {
  const seen = new Map<string, number>();
  return results.map((result) => {
    const identity = identityOf(result);
    const index = seen.get(identity) ?? 0;
    seen.set(identity, index + 1);
    const parts = JSON.stringify([jobKey, identity, ...(index === 0 ? [] : [index])]);
    return { ...result, id: createHash("sha256").update(parts).digest("hex").slice(0, ID_CHARACTERS) };
  });
};

/** Where reports go. @returns the ids of tests that failed in other builds of the same commit */
type SendTests = (report: ReportedTests) => Promise<string[]>;

export interface TestReporterOptions {
  place: FilePlace;
  log: JobLog;
  /** Key of the job among those of its file. */
  jobKey: string;
  /** Patterns of the report files. */
  junit: string[];
  send: SendTests;
  /** Whether the failures are written to the log, for a run that has no page. */
  tellsFailures: boolean;
}

/**
 * Runs the steps of a job, and reports what its tests say once they have ended. It changes nothing of the result.
 * @throws what `run` does; Cancel when the build must stop
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
    log.say(`Warning: the test report was not sent: ${error.message}`);
  });
};

/** Sends the report; once more, where tests that passed here failed elsewhere on the same commit. */
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
  const passed = results.filter(isPassed).map(({ id }) => id);
  if (passed.length > 0) await send({ ...report, passed });
};

const tellFailures = (results: readonly IdentifiedTest[], log: JobLog): void => {
  for (const { outcome, suite, className, name, message, text } of results) {
    if (outcome !== "failed") continue;
    log.say(`failed: ${[suite, className, name].filter(Boolean).join(" > ")}`);
    const words = text === "" ? message : text;
    if (words !== "") log.say(words.replace(/^/gm, "    "));
  }
};
