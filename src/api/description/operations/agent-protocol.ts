import type { Documentation, Operations } from "../documentation.ts";

const BYTES: Documentation["text"] = { types: ["application/octet-stream"], alone: true };
const OF_RANGE = { 206: "The bytes of the `Range`", 416: "These bytes do not exist" };

export const AGENT_PROTOCOL_OPERATIONS: Operations = {
  openArtifact: {
    summary: "Start a job's artifact upload",
    description:
      "`id` is the job's id; the first job has its build's id. The sizes are final. Repeating the call returns the same `artifactId` with a new grant, so an upload can continue after its grant has expired. With other sizes the call starts a new artifact, and the service drops the parts sent so far.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict", "limit-reached"],
  },
  sendPart: {
    summary: "Send a part of an artifact",
    description:
      "Parts are numbered from 1. All except the last have `partBytes` bytes. A part may be sent again. The part of a one-part artifact must then have the same bytes.",
    headers: ["Grant", "ContentSha256"],
    problems: ["malformed-body", "conflict"],
    bytes: true,
  },
  finishArtifact: {
    summary: "Finish an artifact",
    description:
      "The service compares the list with the bytes that arrived. The artifact becomes visible when the job ends under the same lease, as succeeded or failed. The call may be repeated.",
    headers: ["Lease", "Grant"],
    problems: ["lease-lost", "conflict"],
  },
  requestDownloads: {
    summary: "Request the artifacts of earlier jobs",
    description:
      "Only jobs that this one needs, directly or through others. `from` is a job's key in the file; a matrix has an entry for each combination.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  listGrantedFiles: {
    summary: "List the files of a granted artifact",
    description: "In the order of the content, which has one file after the other.",
    problems: ["gone"],
  },
  downloadArtifact: {
    summary: "Download a granted artifact",
    description: "The bytes of all files, or a `Range` of them.",
    headers: ["Range"],
    problems: ["gone"],
    also: OF_RANGE,
    text: BYTES,
  },
  registerAgent: {
    summary: "Register an agent",
    description: "The answer contains the agent's own token; no later answer does. The service ignores unknown fields.",
    problems: ["limit-reached"],
  },
  pollForJob: {
    summary: "Poll for a build to run",
    description:
      'Answers as soon as there is a build for the agent, and after `wait` seconds at the latest. Returns the same build with the same lease until the agent starts it, so a lost answer loses nothing. A WebSocket sends the hints `look`, `cancel` and `followed`, and accepts heartbeats where the job says so: `{"type":"heartbeat","lease":N,"boot":"..."}`. It also accepts the text `ping`; any other message closes it with 1008. The newest two sockets and waiting polls of an agent stay open.',
    headers: ["BootId", "Features", "Xcodes"],
    problems: ["conflict"],
    also: { 101: "A WebSocket for hints", 204: "No build for this agent" },
  },
  heartbeat: {
    summary: "Send a heartbeat and renew the lease",
    description:
      "Send one every `heartbeatSeconds` while a build runs. If the lease has expired, the answer is no problem document: its `cancel` is true.",
    headers: ["HeldLease", "BootId"],
  },
  planBuild: {
    summary: "Send a file with jobs",
    description:
      "Send the file if it has `jobs` or `groups` in the commit. The service creates the jobs, and the lease ends. Agents compare each job with the commit before it runs. Repeating the call with the same text returns the same answer. If the service cannot plan the file, the answer is 422, and the build fails.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict", "too-large", "limit-reached"],
  },
  sendFile: {
    summary: "Send the pipeline file of the default branch",
    description:
      "Send it if the job has `file` and the text's SHA-256 differs from `file.hash`. Send an empty body if the commit has no such file. The service stores the file's triggers. A file with mistakes leaves the stored triggers unchanged; the pipeline's `triggers.mistake` has the first mistake.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict", "too-large", "malformed-body"],
    bytes: true,
  },
  startBuild: {
    summary: "Start a build",
    description:
      "Confirms that the job arrived. Call it before you run anything. If the service rejects the call, drop the job: the agent no longer holds the build.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  startJob: {
    like: "startBuild",
    summary: "Start a job",
    description: "Same as `/build/{id}/start`, for a planned job.",
  },
  reportProgress: {
    summary: "Report the commit, the steps, and values to mask",
    description: "The service masks the values in the part of the log that the agent sends after this call.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  reportJobProgress: {
    like: "reportProgress",
    description: "Same as `/build/{id}/progress`, for a planned job.",
  },
  releaseBuild: {
    summary: "Release a build for another agent",
    description:
      "With `requires`, the build waits for an agent that meets these requirements, and the attempt does not count. With `elsewhere`, once per build, another agent tries to fetch the source: the service skips this agent while another suitable one is online, and answers 409 without one. With `interrupted`, the attempt counts, and any agent may run the next one.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  releaseJob: {
    like: "releaseBuild",
    summary: "Release a job for another agent",
    description: "Same as `/build/{id}/release`, for a planned job.",
  },
  writeLog: {
    summary: "Send a chunk of the log",
    description:
      "`offset` is the number of bytes already sent under this lease. `next` is the number of bytes stored: start the next chunk there. The service may hold back some bytes to mask a secret that spans two chunks.",
    headers: ["Lease"],
    problems: ["lease-lost", "log-gap", "too-large"],
    bytes: true,
  },
  writeJobLog: { like: "writeLog", description: "Same as `/build/{id}/log`, for a planned job." },
  finishBuild: {
    summary: "Report the result",
    description: "Reporting the same result again returns 200. A different result returns 409.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  finishJob: { like: "finishBuild", description: "Same as `/build/{id}/finish`, for a planned job." },
  getEnvironment: {
    summary: "Get a build's environment",
    description:
      "Call it if the job has `needsEnvironment`, after reading a pipeline file that has no jobs and fits this agent. Until then the agent has no secret. The same lease may repeat the call. If the service cannot compose the environment, the build fails, and the answer is 409.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict", "unavailable", "keyring-unavailable"],
  },
  getJobEnvironment: {
    like: "getEnvironment",
    summary: "Get a job's environment",
    description: "Same as `/build/{id}/environment`, for a planned job.",
  },
  reportTests: {
    summary: "Report a job's tests",
    description:
      "`id` is the job's id; the first job has its build's id. The last report of a lease counts. If `failedBefore` has ids of tests that passed in this job, send the same report again with these ids in `passed`: the tests are then flaky.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  findCache: {
    summary: "Find cache entries",
    description:
      "Finds entries of the same pipeline, saved on the build's own branch, its pull request's base or the default branch. The service knows these branches from the build.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  openCache: {
    summary: "Start a cache entry upload",
    description:
      "The entry belongs to the build's own branch. An entry never changes: the service rejects a key that exists, or that another job is saving. With the grant of an earlier answer, even an expired one, the same body continues that save.",
    headers: ["Lease", "EarlierGrant"],
    problems: ["lease-lost", "conflict", "limit-reached"],
  },
  sendCachePart: {
    summary: "Send a part of a cache entry",
    description: "Parts are numbered from 1. All except the last have `partBytes` bytes. A part may be sent again.",
    headers: ["Grant", "ContentSha256"],
    problems: ["malformed-body", "conflict"],
    bytes: true,
  },
  finishCache: {
    summary: "Finish a cache entry",
    description:
      "Builds then find the entry. If space is short, it replaces entries of the same branch that were not used for long. The call may be repeated.",
    headers: ["Lease", "Grant"],
    problems: ["lease-lost", "conflict", "limit-reached"],
  },
  downloadCache: {
    summary: "Download a granted cache entry",
    description: "The compressed tar, or a `Range` of it.",
    headers: ["Range"],
    problems: ["gone"],
    also: { 206: "The bytes of the `Range`", 416: "These bytes do not exist" },
    text: { types: ["application/octet-stream"], alone: true },
  },
};
