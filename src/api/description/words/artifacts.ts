import { byteSize, DEFAULTS, LIMITS, PERIODS, withCommas } from "../../../protocol/limits.ts";
import type { Words } from "../documentation.ts";

const NAME = `Name, unique in its job: at most ${LIMITS.artifactNameCharacters} characters, none of " : < > | * ? / \\.`;
const BYTES = "Bytes of all its files.";

/** The schemas of artifacts. */
export const ARTIFACT_WORDS: Words = {
  ArtifactForm: { is: "files: single files with their names. tar: one archive that keeps links and modes." },
  ArtifactName: { is: NAME },
  PartNumber: { is: "Number of a part, from 1." },
  FilePath: { is: "Path of a file in an artifact." },
  ArtifactGrant: { is: "What an earlier answer granted. Opaque." },
  ArtifactOpening: {
    is: "What an agent is about to send.",
    name: NAME,
    as: "Its form. A tar has one file.",
    keepDays: `Days for which it is kept: 1 to ${LIMITS.artifactDays}, and no longer than its build. Default: ${DEFAULTS.artifactDays}.`,
    bytes: `${BYTES} At most ${byteSize(LIMITS.artifactBytes)}.`,
    files: `Number of files, at most ${withCommas(LIMITS.artifactFiles)}.`,
  },
  OpenedArtifact: {
    is: "How to send an artifact.",
    artifactId: "Id of the artifact.",
    grant: `What the parts and the end are sent with, for ${PERIODS.grantMinutes} minutes.`,
    expiresAt: "When the grant ends. The same request has another one.",
    partBytes: "Bytes of every part but the last.",
    parts: "Number of parts. 0: there is no byte to send.",
  },
  SentPart: { is: "A part that is stored.", etag: "For the end of the artifact." },
  ArtifactFile: {
    is: "One file of an artifact.",
    path: `Path with / between its parts: relative, without . and .., at most ${withCommas(LIMITS.artifactPathBytes)} bytes of UTF-8.`,
    size: "Its bytes.",
    mode: "755 for a file that can be run.",
    sha256: "SHA-256 of its bytes, in lower-case hexadecimal digits.",
    crc32: "CRC-32 of its bytes, in 8 lower-case hexadecimal digits.",
  },
  ArtifactEnd: {
    is: "What was sent.",
    list: "Its files in the order of their bytes. No two paths may be the same when letter case and the composition of letters do not count.",
    etags: "The last answer for each part, in order.",
    md5: "Of several parts: the MD5 of their MD5s (16 bytes each), one after the other.",
  },
  Artifact: {
    is: "A named set of files that a job left.",
    id: "Id of the artifact.",
    jobId: "The job that left it.",
    name: NAME,
    as: "Its form.",
    bytes: BYTES,
    files: "Number of files.",
    createdAt: "When its agent began to send it.",
    expiresAt: "When it is deleted.",
  },
  ArtifactWithFiles: { is: "An artifact with its files.", like: "Artifact", list: "Its files." },
  DownloadRequest: {
    is: "What a job asks for of the jobs that it needs.",
    downloads: "At least one, at most 100.",
    "downloads[].from": "Key of a job in the file.",
    "downloads[].artifact": "Name of an artifact. Left out: all that the job left.",
  },
  Downloads: {
    is: "What the job may fetch.",
    artifacts: "In the order of the request.",
    "artifacts[].from": "As it was asked for.",
    "artifacts[].matrix": "The combination of its job's matrix; null if the job has no matrix.",
    "artifacts[].jobId": "The job that left it.",
    "artifacts[].name": "Name of the artifact.",
    "artifacts[].as": "Its form.",
    "artifacts[].bytes": BYTES,
    "artifacts[].files": "Number of files.",
    "artifacts[].grant": `For its list and its content, for ${PERIODS.grantMinutes} minutes.`,
  },
  ArtifactShare: {
    is: "For how long, and what.",
    hours: `1 to ${LIMITS.shareHours}.`,
    path: "A file or a folder of it. Left out or null: all of it.",
  },
  SharedArtifact: {
    is: "An address for whoever gets it.",
    url: "A file, or a ZIP archive of several.",
    expiresAt: "When the address shows nothing any more.",
  },
};

const ID = "Id of the test, made by the agent of the job's key and the test's names: the same in each build.";
const NAMES = {
  suite: "Names of the suites around it, outermost first.",
  className: "Its class; empty where the report has none.",
  name: "Its name.",
  file: "The file that it is in, as the report has it; null where it does not say.",
};
const COUNTS = {
  total: "All tests.",
  failed: "Those that failed.",
  skipped: "Those that did not run.",
  flaky: "Those that failed and then passed.",
  seconds: "What all tests took together, in seconds.",
};
const TEST = {
  id: ID,
  ...NAMES,
  line: "The line in the file; null where the report does not say.",
  seconds: "What it took, in seconds; null where the report does not say.",
  outcome: "What became of it. A flaky one passed.",
  tries: "How often it ran.",
  isFlaky: "true: it failed and then passed.",
  message: "What it failed with, in short; empty where it did not.",
  text: `The stack, or what else was said of the failure: at most ${byteSize(LIMITS.testTextCharacters)}.`,
};
const KEY = "Key of the job in its file; null for the first job of a build.";
const WARNING = {
  file: "The file that is meant; null for none.",
  message: "What is wrong.",
};

/** The schemas of test results. */
export const TEST_WORDS: Words = {
  TestCounts: { is: "How many tests there were.", ...COUNTS },
  TestSummary: {
    is: "How many tests there were, by the reports of the jobs.",
    ...COUNTS,
    warnings: "How many files could not be read, and the like.",
  },
  TestId: { is: ID },
  ReportedTest: { is: "One test.", ...TEST },
  ShownTest: {
    is: "One test, with its failures of late.",
    ...TEST,
    failures: `How often it failed in the last ${PERIODS.flakyDays} days in builds of the repository's default branch. 0 for one that passed here.`,
  },
  TestWarning: { is: "What could not be read.", ...WARNING },
  ReportedTests: {
    is: "What the tests of a job said.",
    counts: "Of all tests, those that are not listed included.",
    warnings: `At most ${LIMITS.testWarnings}.`,
    tests: `Those that failed or were flaky, and the slowest: at most ${withCommas(LIMITS.reportedTests)}.`,
    passed: "Of `failedBefore`, the ids of the tests that passed in this job.",
  },
  TestReportTaken: {
    is: "The report is kept.",
    failedBefore: "Ids of tests that failed in other builds of the same commit.",
  },
  TestReport: {
    is: "What the tests of a job said.",
    jobId: "Id of the job; of the build, where it has one job.",
    jobKey: KEY,
    counts: "Of all tests, those that are not listed included.",
    warnings: "Files that could not be read, and the like.",
    tests: "Those that failed or were flaky, and the slowest.",
  },
  TestFailure: {
    is: "One failure of a test.",
    buildId: "Id of the build.",
    jobId: "Id of the job; of the build, where it has one job.",
    jobKey: KEY,
    branch: "The branch or ref that was built.",
    commitSha: "The commit that was built; null where it was not known.",
    at: "When the job ended.",
    kind: "failed; or flaky: it passed too, on the same commit.",
  },
  TestHistory: {
    is: "The last failures of a test.",
    id: ID,
    ...NAMES,
    failures: `The newest first, at most ${LIMITS.testFailures}.`,
  },
  FlakyTest: {
    is: "A test that failed and passed on the same commit.",
    id: ID,
    ...NAMES,
    jobKey: KEY,
    times: `How often in the last ${PERIODS.flakyDays} days.`,
    lastAt: "When last.",
    lastBuildId: "Id of the build in which it failed last.",
  },
};
