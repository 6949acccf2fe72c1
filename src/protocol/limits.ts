/*
 * Every limit that a person or a client can meet, with its unit in its name, and the documented defaults and periods.
 * README and docs quote these numbers, and test/house/limits.test.ts compares them. Three other files have limits.
 * `pipeline/fields/limits.ts` has the limits of a pipeline file, `config.ts` has those of a deployment, and
 * `pipeline.ts` has a pipeline's defaults.
 */

import { GIB, KIB, MIB, withCommas } from "./units.ts";

export { withCommas } from "./units.ts";

const REQUESTS = {
  bodyBytes: MIB,
  pageLength: 200,
  cursorCharacters: 100,
  filterCharacters: 100,
  /** Maximum seconds that a poll may wait for a build. */
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
  /** Untrusted authors of one repository. */
  untrustedAuthors: 50,
  /** Characters in the address of a git host, or of its API. */
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
  /** Variables of one organization. */
  variables: 20_000,
  keyCharacters: 255,
  valueBytes: 48 * KIB,
  /** Bytes of UTF-8 in the name of a variable's file. */
  fileNameBytes: 255,
  /** Bytes of UTF-8 in one run's `envVariables` as JSON. */
  envVariablesBytes: 256 * KIB,
  secretKeys: 1000,
  /** Variables of one build, including those of the run. */
  activeVariables: 1000,
  /** Bytes of UTF-8 in one build's `KEY=value` entries, including their terminators. */
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
  /** Schedules of one pipeline, including those of its file. */
  schedules: 20,
  /**
   * Bytes of UTF-8 in one schedule's `envVariables` as JSON. The service reads the variables of many schedules at once.
   */
  scheduleVariablesBytes: 16 * KIB,
  cronCharacters: 200,
  timeZoneCharacters: 64,
  /** Next times that a client may request at once. */
  nextTimes: 50,
} as const;

const BUILDS = {
  /** The range of a priority: from minus this number to plus this number. */
  priority: 100,
  /** An organization's jobs that wait for an agent, for other jobs or for a person. A build without a plan is one job. */
  waitingJobs: 10_000,
  /** The total characters of an organization's active builds' inputs, in sealed form. */
  sealedInputsCharacters: 64 * MIB,
  /**
   * An ended build with more sealed inputs than this keeps them only if it is among the newest `largeInputsKept` such
   * builds.
   */
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
  /** Jobs of one build, including the combinations of a matrix. */
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
  /** Bytes of UTF-8 in one job's outputs, names and values. `buildOutputBytes` limits those of all jobs of a build. */
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
  /** Followers of one log by one token. An additional follower closes the oldest one. */
  followers: 50,
} as const;

const ARTIFACTS = {
  artifactNameCharacters: 100,
  /** Artifacts of one job. */
  artifacts: 100,
  artifactBytes: 10 * GIB,
  artifactFiles: 5000,
  artifactPathBytes: 1024,
  /** Maximum days for which an artifact may be kept. */
  artifactDays: 400,
  /** Bytes of an artifact's part. Every part except the last has exactly this size. */
  artifactPartBytes: 32 * MIB,
  artifactParts: 320,
  etagCharacters: 200,
  /** Bytes of the list of one artifact's files, including the answers for the artifact's parts. */
  artifactListBytes: 8 * MIB,
  /** Downloads in one request of a job. */
  downloads: 100,
  shareHours: 168,
} as const;

const TESTS = {
  /** Tests of one job, and tries of one test. */
  countedTests: 100_000,
  /** Tests in one report: those that failed or were flaky, and the slowest. */
  reportedTests: 500,
  slowestTests: 20,
  testWarnings: 50,
  testReportFiles: 5000,
  testNameCharacters: 500,
  testMessageCharacters: 2000,
  testTextCharacters: 16 * KIB,
  /** Flaky tests in the list of a repository. */
  flakyTests: 200,
  /** Failures of one test. */
  testFailures: 50,
} as const;

const CACHE = {
  /** Caches of one job. */
  caches: 10,
  cacheKeyCharacters: 1024,
  cacheFallbacks: 10,
  cacheEntryBytes: 5 * GIB,
  /** Bytes of a cache entry. A larger entry leaves the agent only if the file says so. */
  cacheLocalBytes: GIB,
  /** The unpacked bytes of one entry. The limit keeps an entry from filling a disk. */
  cacheUnpackedBytes: 20 * GIB,
  /** Bytes of one repository's cache. */
  cacheBytes: 10 * GIB,
  cacheEntries: 1000,
} as const;

const AGENTS = {
  /** Agents of one organization. */
  agents: 5000,
  /** Agents of one registration token, so that a leaked token cannot fill the organization. */
  registeredAgents: 1000,
  agentVersionCharacters: 100,
  /** Open sockets of one agent, including waiting polls: the socket in use, and a socket that broke unnoticed. */
  agentSockets: 2,
  /** Messages on one socket of an agent, without its pings. */
  socketMessagesPerMinute: 120,
  /** Deliveries to one hook of a git host. `wrangler.toml` has the same number. */
  deliveriesPerMinute: 3_000,
  /** Bytes of a delivery. Git hosts send at most 25 MB. */
  deliveryBytes: 26 * MIB,
  /** Deliveries in the list of a connection. */
  deliveries: 200,
  /**
   * Deliveries of a connection that wait while the service cannot accept them. `keptCharacters` limits their
   * characters.
   */
  keptDeliveries: 2_000,
  keptCharacters: 4 * MIB,
  /** Characters of a delivery's id: 100 for the host's own id, and room for the number of the attempt. */
  deliveryIdCharacters: 120,
  /** Bytes of one answer from a git host. */
  hostAnswerBytes: 64 * KIB,
  /** Bytes of one page of a git host's list. */
  hostListBytes: MIB,
} as const;

const TOKENS = {
  graceSeconds: 604_800,
  /** The minimum number of characters in the operator's token. */
  operatorTokenCharacters: 32,
  /** Organizations in one batch of a reconciliation. Each organization takes one pool call. */
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
  /** The page length of lists that grow without limit and begin with the newest record: builds and the audit. */
  newestPageLength: 50,
  /** The number of a schedule's next times. */
  nextTimes: 5,
  graceSeconds: 3600,
  unusedDays: 90,
  restoreBatch: 50,
  rewrapBatch: 200,
  /** Days for which an artifact is kept. */
  artifactDays: 30,
} as const;

export const PERIODS = {
  /** An agent counts as online for this many seconds after its last contact. */
  onlineSeconds: 90,
  /** An idempotency key identifies the same build for this many hours. */
  idempotencyHours: 24,
  /** A dashboard session ends after this many hours without a request, and after `longestSessionDays` in any case. */
  sessionHours: 12,
  longestSessionDays: 30,
  /** Minutes for which a grant to send or fetch an artifact is valid. The agent then requests another grant. */
  grantMinutes: 60,
  /** Minutes for which an address that shows a report is valid. */
  viewMinutes: 60,
  /** Days for which a test failure counts as recent. */
  flakyDays: 14,
  /** Days without use by any build after which a cache entry is deleted. */
  cacheDays: 14,
  /** Minutes for which no other job saves an entry with the same key. */
  cacheSavingMinutes: 10,
} as const;

/** Formats a number of bytes for people: `48 KiB`. */
export const byteSize = (bytes: number): string => {
  if (bytes % MIB === 0) return `${withCommas(bytes / MIB)} MiB`;
  return bytes % KIB === 0 ? `${withCommas(bytes / KIB)} KiB` : `${withCommas(bytes)} bytes`;
};
