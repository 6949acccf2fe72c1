/*
 * Every limit that a person or a client can meet, with its unit in its name, and the documented defaults and periods.
 * README and docs quote these numbers; test/house/limits.test.ts compares them. Three other files have limits:
 * `pipeline/fields/limits.ts` those of a pipeline file, `config.ts` those of a deployment, and `pipeline.ts` a
 * pipeline's defaults.
 */

import { GIB, KIB, MIB, withCommas } from "./units.ts";

export { withCommas } from "./units.ts";

const REQUESTS = {
  bodyBytes: MIB,
  pageLength: 200,
  cursorCharacters: 100,
  filterCharacters: 100,
  /** How many seconds a poll may wait for a build. */
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
  /** Per repository. */
  untrustedAuthors: 50,
  /** The address of a git host, or of its API. */
  hostAddressCharacters: 400,
  /** Characters of a git host's token. */
  hostTokenCharacters: 4000,
  /** Characters of the private key of a GitHub App, as PEM. */
  appKeyCharacters: 10_000,
  /** Repositories on one page of a git host's answer. */
  hostPageLength: 50,
  /** Characters of a clone credential's token or private key. */
  credentialCharacters: 16_384,
} as const;

const VARIABLES = {
  /** Per organization. */
  variables: 20_000,
  keyCharacters: 255,
  valueBytes: 48 * KIB,
  /** UTF-8 of the name of a variable's file. */
  fileNameBytes: 255,
  /** UTF-8 of one run's `envVariables` as JSON. */
  envVariablesBytes: 256 * KIB,
  secretKeys: 1000,
  /** Per build, including those of the run. */
  activeVariables: 1000,
  /** UTF-8 of one build's `KEY=value` entries, including their terminators. */
  environmentBytes: 256 * KIB,
  unusedDays: 400,
} as const;

const PIPELINES = {
  configPathCharacters: 400,
  definitionCharacters: 256 * KIB,
  /** Files that one pipeline file includes, directly or indirectly. */
  includes: 50,
  groups: 100,
  timeoutSeconds: 86_400,
  parallelBuilds: 10_000,
  attempts: 3,
} as const;

const SCHEDULES = {
  /** Per pipeline, including those of its file. */
  schedules: 20,
  /** UTF-8 of one schedule's `envVariables` as JSON. The service reads those of many schedules at once. */
  scheduleVariablesBytes: 16 * KIB,
  cronCharacters: 200,
  timeZoneCharacters: 64,
  /** Times that one request may ask for. */
  nextTimes: 50,
} as const;

const BUILDS = {
  /** From minus this number to plus this number. */
  priority: 100,
  /** Per organization. */
  queuedBuilds: 10_000,
  /** The total of an organization's active builds, in sealed form. */
  sealedInputsCharacters: 64 * MIB,
  /** Only the newest of the ended builds with more sealed inputs than this keep them. */
  largeInputsCharacters: 4 * KIB,
  largeInputsKept: 1000,
  steps: 500,
  stepNameCharacters: 200,
  summaryCharacters: 65_536,
  messageCharacters: 4000,
  releaseReasonCharacters: 2000,
  exitCode: 255,
  /** Steps and masks in one progress report. A build may have more masks, and fewer steps. */
  reportedSteps: 1000,
  reportedMasks: 1000,
  maskCharacters: 65_536,
} as const;

const JOBS = {
  /** Per build, including the combinations of a matrix. */
  jobs: 256,
  /** Jobs as a file defines them. */
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
  /** A build with planned jobs ends after this many days at the latest. */
  buildDays: 30,
  /** Consecutive builds that each retry the failed jobs of the previous one. */
  retriesInARow: 50,
} as const;

const LOGS = {
  logChunkBytes: MIB,
  logBytes: 100 * MIB,
  /** Followers of one log by one token. One more closes the oldest. */
  followers: 50,
} as const;

const ARTIFACTS = {
  artifactNameCharacters: 100,
  /** Per job. */
  artifacts: 100,
  artifactBytes: 10 * GIB,
  artifactFiles: 5000,
  artifactPathBytes: 1024,
  /** Days that an artifact may be kept. */
  artifactDays: 400,
  /** Every part except the last has exactly this size. */
  artifactPartBytes: 32 * MIB,
  artifactParts: 320,
  etagCharacters: 200,
  /** The list of one artifact's files, including the answers for its parts. */
  artifactListBytes: 8 * MIB,
  /** Per request of a job. */
  downloads: 100,
  shareHours: 168,
} as const;

const TESTS = {
  /** Per job, and per test for its tries. */
  countedTests: 100_000,
  /** Tests in one report: those that failed or were flaky, and the slowest. */
  reportedTests: 500,
  slowestTests: 20,
  testWarnings: 50,
  testReportFiles: 5000,
  testNameCharacters: 500,
  testMessageCharacters: 2000,
  testTextCharacters: 16 * KIB,
  /** In the list of a repository. */
  flakyTests: 200,
  /** Per test. */
  testFailures: 50,
} as const;

const CACHE = {
  /** Per job. */
  caches: 10,
  cacheKeyCharacters: 1024,
  cacheFallbacks: 10,
  cacheEntryBytes: 5 * GIB,
  /** Larger entries leave the agent only if the file says so. */
  cacheLocalBytes: GIB,
  /** The unpacked size of one entry, so that none fills a disk. */
  cacheUnpackedBytes: 20 * GIB,
  /** Per repository. */
  cacheBytes: 10 * GIB,
  cacheEntries: 1000,
} as const;

const AGENTS = {
  /** Per organization. */
  agents: 5000,
  /** Per registration token, so that a leaked one cannot fill the organization. */
  registeredAgents: 1000,
  agentVersionCharacters: 100,
  /** Open sockets of one agent, including waiting polls: the socket in use, and one that broke unnoticed. */
  agentSockets: 2,
  /** Per socket of an agent, without its pings. */
  socketMessagesPerMinute: 120,
  /** Per hook of a git host. `wrangler.toml` has the same number. */
  deliveriesPerMinute: 3_000,
  /** Bytes of a delivery. Git hosts send at most 25 MB. */
  deliveryBytes: 26 * MIB,
  /** Deliveries in the list of a connection. */
  deliveries: 200,
  /** Deliveries of a connection that wait while the service cannot accept them, and the characters of all of them. */
  keptDeliveries: 2_000,
  keptCharacters: 4 * MIB,
  /** 100 for the host's own id, and room for the number of the attempt. */
  deliveryIdCharacters: 120,
  /** Per answer of a git host. */
  hostAnswerBytes: 64 * KIB,
  /** Per page of a git host's list. */
  hostListBytes: MIB,
} as const;

const TOKENS = {
  graceSeconds: 604_800,
  /** The minimum. */
  operatorTokenCharacters: 32,
  /** Organizations in one batch of a reconciliation, with one pool call each. */
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

/** Values for fields that a request omits. */
export const DEFAULTS = {
  pageLength: 100,
  hostPageLength: 50,
  /** For lists that grow without limit and begin with the newest: builds and the audit. */
  newestPageLength: 50,
  /** For a schedule. */
  nextTimes: 5,
  graceSeconds: 3600,
  unusedDays: 90,
  restoreBatch: 50,
  rewrapBatch: 200,
  /** How long an artifact is kept. */
  artifactDays: 30,
} as const;

export const PERIODS = {
  /** An agent counts as online for this long after its last contact. */
  onlineSeconds: 90,
  /** An idempotency key identifies the same build for this long. */
  idempotencyHours: 24,
  /** A dashboard session ends after this long without a request, and after this many days in any case. */
  sessionHours: 12,
  longestSessionDays: 30,
  /** How long a grant to send or fetch an artifact is valid. The agent then requests another one. */
  grantMinutes: 60,
  /** How long an address that shows a report is valid. */
  viewMinutes: 60,
  /** Days for which a test failure counts as recent. */
  flakyDays: 14,
  /** A cache entry is deleted when no build has used it for this long. */
  cacheDays: 14,
  /** No other job saves an entry with the same key for this long. */
  cacheSavingMinutes: 10,
} as const;

/** Formats a number of bytes for people: `48 KiB`. */
export const byteSize = (bytes: number): string => {
  if (bytes % MIB === 0) return `${withCommas(bytes / MIB)} MiB`;
  return bytes % KIB === 0 ? `${withCommas(bytes / KIB)} KiB` : `${withCommas(bytes)} bytes`;
};
