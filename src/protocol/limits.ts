/*
 * Every limit that a person or a client meets, with its unit in its name, and the defaults and periods that they read
 * about. README and docs quote these numbers; test/house/limits.test.ts compares them. What one pipeline file may be is
 * in `pipeline/fields/limits.ts`, what a deployment sets in `config.ts`, a pipeline's defaults in `pipeline.ts`.
 */

import { GIB, KIB, MIB } from "./units.ts";

const REQUESTS = {
  bodyBytes: MIB,
  pageLength: 200,
  cursorCharacters: 100,
  filterCharacters: 100,
  /** Seconds for which a poll may wait for a build. */
  pollSeconds: 60,
} as const;

const TEXTS = {
  nameCharacters: 200,
  descriptionCharacters: 2000,
  labelCharacters: 100,
  /** Labels of one agent, token, pipeline or build. */
  labels: 50,
} as const;

const REPOSITORIES = {
  fullNameCharacters: 400,
  cloneUrlCharacters: 2000,
  branchCharacters: 250,
  usernameCharacters: 200,
  /** Of one repository. */
  untrustedAuthors: 50,
  /** Address of a git host, or of its API. */
  hostAddressCharacters: 400,
  /** Characters of a git host's token. */
  hostTokenCharacters: 4000,
  /** Characters of the private key of a GitHub App, as PEM. */
  appKeyCharacters: 10_000,
  /** Repositories that one page asks a git host for. */
  hostPageLength: 50,
  /** Characters of a clone credential's token or private key. */
  credentialCharacters: 16_384,
} as const;

const VARIABLES = {
  /** Of one organization. */
  variables: 20_000,
  keyCharacters: 255,
  valueBytes: 48 * KIB,
  /** UTF-8 of the name of a variable's file. */
  fileNameBytes: 255,
  /** UTF-8 of one run's `envVariables` as JSON. */
  envVariablesBytes: 256 * KIB,
  secretKeys: 1000,
  /** Of one build, those of the run included. */
  activeVariables: 1000,
  /** UTF-8 of one build's `KEY=value` entries, each with its end. */
  environmentBytes: 256 * KIB,
  unusedDays: 400,
} as const;

const PIPELINES = {
  configPathCharacters: 400,
  definitionCharacters: 256 * KIB,
  /** Files that one pipeline file includes, and those that they include in turn. */
  includes: 50,
  groups: 100,
  timeoutSeconds: 86_400,
  parallelBuilds: 10_000,
  attempts: 3,
} as const;

const SCHEDULES = {
  /** Of one pipeline, those of its file included. */
  schedules: 20,
  /** UTF-8 of one schedule's `envVariables` as JSON: those of many schedules are read at once. */
  scheduleVariablesBytes: 16 * KIB,
  cronCharacters: 200,
  timeZoneCharacters: 64,
  /** Times that one request may ask for. */
  nextTimes: 50,
} as const;

const BUILDS = {
  /** From minus this to plus this. */
  priority: 100,
  /** Of one organization. */
  queuedBuilds: 10_000,
  /** Of all active builds of an organization, as sealed. */
  sealedInputsCharacters: 64 * MIB,
  /** Of the ended builds with more sealed inputs than this, only the newest so many keep theirs. */
  largeInputsCharacters: 4 * KIB,
  largeInputsKept: 1000,
  steps: 500,
  stepNameCharacters: 200,
  summaryCharacters: 65_536,
  messageCharacters: 4000,
  releaseReasonCharacters: 2000,
  exitCode: 255,
  /** Steps and masks that one report of progress may carry; a build may have more masks, and fewer steps. */
  reportedSteps: 1000,
  reportedMasks: 1000,
  maskCharacters: 65_536,
} as const;

const JOBS = {
  /** Of one build; combinations of a matrix count. */
  jobs: 256,
  /** Jobs as a file writes them. */
  jobDefinitions: 100,
  needs: 50,
  matrixAxes: 8,
  axisValues: 100,
  jobNameCharacters: 200,
  concurrencyCharacters: 100,
  gates: 20,
  gateHours: 720,
  gateMessageCharacters: 1000,
  gateCommentCharacters: 1000,
  /** UTF-8 of one job's outputs, names and values, and of all jobs of a build. */
  outputBytes: 64 * KIB,
  buildOutputBytes: MIB,
  /** A build with planned jobs ends after so many days at the latest. */
  buildDays: 30,
  /** Builds that retry the failed jobs of the one before, in a row. */
  retriesInARow: 50,
} as const;

const LOGS = {
  logChunkBytes: MIB,
  logBytes: 100 * MIB,
  /** Followers of one log by one token; one more closes the oldest. */
  followers: 50,
} as const;

const ARTIFACTS = {
  artifactNameCharacters: 100,
  /** Of one job. */
  artifacts: 100,
  artifactBytes: 10 * GIB,
  artifactFiles: 5000,
  artifactPathBytes: 1024,
  /** Days for which one may be kept. */
  artifactDays: 400,
  /** Every part but the last has exactly so many bytes. */
  artifactPartBytes: 32 * MIB,
  artifactParts: 320,
  etagCharacters: 200,
  /** Of the list of one artifact's files, with the answers for its parts. */
  artifactListBytes: 8 * MIB,
  /** Of one request of a job. */
  downloads: 100,
  shareHours: 168,
} as const;

const TESTS = {
  /** Of one job, and tries of one test. */
  countedTests: 100_000,
  /** Tests that one report has: those that failed or were flaky, and the slowest. */
  reportedTests: 500,
  slowestTests: 20,
  testWarnings: 50,
  testReportFiles: 5000,
  testNameCharacters: 500,
  testMessageCharacters: 2000,
  testTextCharacters: 16 * KIB,
  /** Of the list of a repository. */
  flakyTests: 200,
  /** Of one test. */
  testFailures: 50,
} as const;

const CACHE = {
  /** Of one job. */
  caches: 10,
  cacheKeyCharacters: 1024,
  cacheFallbacks: 10,
  cacheEntryBytes: 5 * GIB,
  /** Larger ones leave the agent only where the file says so. */
  cacheLocalBytes: GIB,
  /** What the files of one entry may have, so that none fills a disk. */
  cacheUnpackedBytes: 20 * GIB,
  /** Of one repository. */
  cacheBytes: 10 * GIB,
  cacheEntries: 1000,
} as const;

const AGENTS = {
  /** Of one organization. */
  agents: 5000,
  /** Of one registration token, so that a leaked one cannot fill the organization. */
  registeredAgents: 1000,
  agentVersionCharacters: 100,
  /** Open sockets of one agent, waiting polls included: the one it uses, and one that it lost unnoticed. */
  agentSockets: 2,
  /** On one socket of an agent, without its pings. */
  socketMessagesPerMinute: 120,
  /** What one hook of a git host takes; `wrangler.toml` has the same number. */
  deliveriesPerMinute: 3_000,
  /** Bytes of a delivery: git hosts send at most 25 MB. */
  deliveryBytes: 26 * MIB,
  /** Deliveries of a connection that are listed. */
  deliveries: 200,
  /** Deliveries of a connection that wait while the service cannot take them, and the characters of all of them. */
  keptDeliveries: 2_000,
  keptCharacters: 4 * MIB,
  /** 100 of the host's own, and room for which attempt it is. */
  deliveryIdCharacters: 120,
  /** Of an answer of a git host. */
  hostAnswerBytes: 64 * KIB,
  /** Of a page of a list of one. */
  hostListBytes: MIB,
} as const;

const TOKENS = {
  graceSeconds: 604_800,
  /** At least. */
  operatorTokenCharacters: 32,
  /** Organizations of one batch of a reconciliation: each is a call of its pool. */
  restoreBatch: 200,
  rewrapBatch: 500,
} as const;

export const LIMITS = {
  ...REQUESTS,
  ...TEXTS,
  ...REPOSITORIES,
  ...VARIABLES,
  ...PIPELINES,
  ...SCHEDULES,
  ...BUILDS,
  ...JOBS,
  ...LOGS,
  ...ARTIFACTS,
  ...TESTS,
  ...CACHE,
  ...AGENTS,
  ...TOKENS,
} as const;

/** What holds where a request names nothing else. */
export const DEFAULTS = {
  pageLength: 100,
  hostPageLength: 50,
  /** Of lists that grow for ever and begin with the newest: builds and the audit. */
  newestPageLength: 50,
  /** Of a schedule. */
  nextTimes: 5,
  graceSeconds: 3600,
  unusedDays: 90,
  restoreBatch: 50,
  rewrapBatch: 200,
  /** For which an artifact is kept. */
  artifactDays: 30,
} as const;

export const PERIODS = {
  /** An agent counts as online for this long after its last sign of life. */
  onlineSeconds: 90,
  /** An idempotency key means the same build for this long. */
  idempotencyHours: 24,
  /** A dashboard session ends after this long without a request, and after so many days in any case. */
  sessionHours: 12,
  longestSessionDays: 30,
  /** What an agent may send or fetch of an artifact, it may for this long; then it asks again. */
  grantMinutes: 60,
  /** An address that shows a report is good for this long. */
  viewMinutes: 60,
  /** Failures of tests count as those of late for so many days. */
  flakyDays: 14,
  /** A cache entry that no build has found for this long is deleted. */
  cacheDays: 14,
  /** No other job saves an entry of the same key for this long. */
  cacheSavingMinutes: 10,
} as const;

/** A number as people read it: `86,400`. */
export const withCommas = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** A number of bytes as people read it: `48 KiB`. */
export const byteSize = (bytes: number): string => {
  if (bytes % MIB === 0) return `${withCommas(bytes / MIB)} MiB`;
  return bytes % KIB === 0 ? `${withCommas(bytes / KIB)} KiB` : `${withCommas(bytes)} bytes`;
};
