import { byteSize, DEFAULTS, LIMITS, PERIODS, withCommas } from "../../../protocol/limits.ts";
import type { Words } from "../documentation.ts";

const NAME = `Name, unique in its job: at most ${LIMITS.artifactNameCharacters} characters, none of " : < > | * ? / \\.`;
const BYTES = "Size of all its files, in bytes.";

/** The schemas of artifacts. */
export const ARTIFACT_WORDS: Words = {
  ArtifactForm: { is: "files: single files with their names. tar: one archive that keeps links and modes." },
  ArtifactName: { is: NAME },
  PartNumber: { is: "Number of a part, from 1." },
  FilePath: { is: "Path of a file in an artifact." },
  ArtifactGrant: { is: "A grant from an earlier answer. Opaque." },
  ArtifactOpening: {
    is: "An artifact that an agent is about to send.",
    name: NAME,
    as: "The artifact's form. A tar has one file.",
    keepDays: `Days to keep the artifact: 1 to ${LIMITS.artifactDays}, and no longer than its build. Default: ${DEFAULTS.artifactDays}.`,
    bytes: `${BYTES} At most ${byteSize(LIMITS.artifactBytes)}.`,
    files: `Number of files, at most ${withCommas(LIMITS.artifactFiles)}.`,
  },
  OpenedArtifact: {
    is: "How to send an artifact.",
    artifactId: "Id of the artifact.",
    grant: `Send it with the parts and the end. It is valid for ${PERIODS.grantMinutes} minutes.`,
    expiresAt: "When the grant expires. Repeating the request returns a new one.",
    partBytes: "Size of every part except the last, in bytes.",
    parts: "Number of parts. 0: there are no bytes to send.",
  },
  SentPart: { is: "A stored part.", etag: "Send it with the end of the upload." },
  ArtifactFile: {
    is: "One file of an artifact.",
    path: `Relative path with / as separator, without . and .., at most ${withCommas(LIMITS.artifactPathBytes)} bytes of UTF-8.`,
    size: "Size in bytes.",
    mode: "755 for an executable file.",
    sha256: "SHA-256 of the file, in lower-case hexadecimal digits.",
    crc32: "CRC-32 of the file, in 8 lower-case hexadecimal digits.",
  },
  ArtifactEnd: {
    is: "The end of an artifact's upload.",
    list: "The files, in the order of the content. No two paths may be the same after ignoring letter case and Unicode composition.",
    etags: "The last `etag` of each part, in order.",
    md5: "With more than one part: the MD5 of the parts' concatenated MD5s (16 bytes each).",
  },
  Artifact: {
    is: "A named set of files that a job uploaded.",
    id: "Id of the artifact.",
    jobId: "Id of the job that uploaded it.",
    name: NAME,
    as: "The artifact's form.",
    bytes: BYTES,
    files: "Number of files.",
    createdAt: "When the agent began to send it.",
    expiresAt: "When the service deletes it.",
  },
  ArtifactWithFiles: { is: "An artifact with its files.", like: "Artifact", list: "Its files." },
  DownloadRequest: {
    is: "The artifacts that a job requests from the jobs that it needs.",
    downloads: "1 to 100 entries.",
    "downloads[].from": "A job's key in the file.",
    "downloads[].artifact": "Name of an artifact. Left out: all artifacts of the job.",
  },
  Downloads: {
    is: "The artifacts that the job may download.",
    artifacts: "In the order of the request.",
    "artifacts[].from": "The key from the request.",
    "artifacts[].matrix": "The job's matrix combination; null if the job has no matrix.",
    "artifacts[].jobId": "Id of the job that uploaded it.",
    "artifacts[].name": "Name of the artifact.",
    "artifacts[].as": "The artifact's form.",
    "artifacts[].bytes": BYTES,
    "artifacts[].files": "Number of files.",
    "artifacts[].grant": `For the artifact's list and content. It is valid for ${PERIODS.grantMinutes} minutes.`,
  },
  ArtifactShare: {
    is: "How long to share an artifact, and which part.",
    hours: `Hours until the address expires: 1 to ${LIMITS.shareHours}.`,
    path: "Path of a file or folder in the artifact. Left out or null: the whole artifact.",
  },
  SharedArtifact: {
    is: "An address that gives access without a token.",
    url: "Address of one file, or of a ZIP archive with more files.",
    expiresAt: "When the address expires.",
  },
};

const ID = "Id of the test, which the agent derives from the job's key and the test's names: the same in each build.";
const NAMES = {
  suite: "Names of the suites around the test, outermost first.",
  className: "Class of the test; empty if the report names no class.",
  name: "Name of the test.",
  file: "The test's file, as in the report; null if the report names no file.",
};
const COUNTS = {
  total: "All tests.",
  failed: "Tests that failed.",
  skipped: "Tests that did not run.",
  flaky: "Tests that failed and then passed.",
  seconds: "Total duration of all tests, in seconds.",
};
const TEST = {
  id: ID,
  ...NAMES,
  line: "Line in the file; null if the report names no line.",
  seconds: "Duration in seconds; null if the report has no duration.",
  outcome: "Result of the test. A flaky test passed.",
  tries: "Number of times that the test ran.",
  isFlaky: "true: the test failed and then passed.",
  message: "Short failure message; empty if the test did not fail.",
  text: `The stack, or other details of the failure: at most ${byteSize(LIMITS.testTextCharacters)}.`,
};
const KEY = "The job's key in its file; null for the first job of a build.";
const WARNING = {
  file: "The file that the warning is about; null without one.",
  message: "What is wrong.",
};

/** The schemas of test results. */
export const TEST_WORDS: Words = {
  TestCounts: { is: "Numbers of tests.", ...COUNTS },
  TestSummary: {
    is: "Numbers of tests, from the jobs' reports.",
    ...COUNTS,
    warnings: "Number of warnings, for example about unreadable files.",
  },
  TestId: { is: ID },
  ReportedTest: { is: "One test.", ...TEST },
  ShownTest: {
    is: "One test, with its recent failures.",
    ...TEST,
    failures: `Number of failures in the last ${PERIODS.flakyDays} days, in builds of the repository's default branch. 0 for a test that passed here.`,
  },
  TestWarning: { is: "A warning about a report that could not be read completely.", ...WARNING },
  ReportedTests: {
    is: "A job's test results.",
    counts: "Counts of all tests, including unlisted ones.",
    warnings: `Warnings, at most ${LIMITS.testWarnings}.`,
    tests: `The failed, flaky and slowest tests: at most ${withCommas(LIMITS.reportedTests)}.`,
    passed: "Those ids in `failedBefore` whose tests passed in this job.",
  },
  TestReportTaken: {
    is: "The answer to a test report.",
    failedBefore: "Ids of tests that failed in other builds of the same commit.",
  },
  TestReport: {
    is: "A job's test results.",
    jobId: "Id of the job; in a build with one job, the build's id.",
    jobKey: KEY,
    counts: "Counts of all tests, including unlisted ones.",
    warnings: "Warnings, for example about unreadable files.",
    tests: "The failed, flaky and slowest tests.",
  },
  TestFailure: {
    is: "One failure of a test.",
    buildId: "Id of the build.",
    jobId: "Id of the job; in a build with one job, the build's id.",
    jobKey: KEY,
    branch: "The build's branch or ref.",
    commitSha: "The build's commit; null if it was unknown.",
    at: "When the job ended.",
    kind: "failed. flaky: the test also passed on the same commit.",
  },
  TestHistory: {
    is: "A test's last failures.",
    id: ID,
    ...NAMES,
    failures: `The failures, newest first, at most ${LIMITS.testFailures}.`,
  },
  FlakyTest: {
    is: "A test that failed and passed on the same commit.",
    id: ID,
    ...NAMES,
    jobKey: KEY,
    times: `How often the test was flaky in the last ${PERIODS.flakyDays} days.`,
    lastAt: "When the test was last flaky.",
    lastBuildId: "Id of the build in which it last failed.",
  },
};
