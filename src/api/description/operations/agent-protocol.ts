import type { Documentation, Operations } from "../documentation.ts";

const BYTES: Documentation["text"] = { types: ["application/octet-stream"], alone: true };
const OF_RANGE = { 206: "The bytes of the `Range`", 416: "There are not these bytes" };

export const AGENT_PROTOCOL_OPERATIONS: Operations = {
  openArtifact: {
    summary: "Begin an artifact of a job",
    description:
      "`id` is that of the job; the first job has the id of its build. The sizes are final. The same call again has the same `artifactId` with a fresh grant, also to go on after a grant has expired. Where the sizes changed it is another artifact, and what was sent before is dropped.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict", "limit-reached"],
  },
  sendPart: {
    summary: "Send a part of an artifact",
    description:
      "Parts are numbered from 1. All but the last have `partBytes` bytes. A part may be sent again; of an artifact with one part, only the same bytes.",
    headers: ["Grant", "ContentSha256"],
    problems: ["malformed-body", "conflict"],
    bytes: true,
  },
  finishArtifact: {
    summary: "Finish an artifact",
    description:
      "The service compares the list with the bytes that arrived. Others see the artifact once the job has ended under the same lease, as succeeded or failed. It may be repeated.",
    headers: ["Lease", "Grant"],
    problems: ["lease-lost", "conflict"],
  },
  requestDownloads: {
    summary: "Ask for what earlier jobs of the build left",
    description:
      "Only of jobs that this one needs, directly or through others. `from` is the key of a job in the file; a matrix has an entry for each combination.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  listGrantedFiles: {
    summary: "List the files of a granted artifact",
    description: "In the order of their bytes: the content has one file after the other.",
    problems: ["gone"],
  },
  downloadArtifact: {
    summary: "Download a granted artifact",
    description: "The bytes of all its files, or a `Range` of them.",
    headers: ["Range"],
    problems: ["gone"],
    also: OF_RANGE,
    text: BYTES,
  },
  registerAgent: {
    summary: "Register an agent",
    description: "The answer contains the agent's own token; no later answer does. Unknown fields are ignored.",
    problems: ["limit-reached"],
  },
  pollForJob: {
    summary: "Poll for a build to run",
    description:
      'Answers as soon as there is a build for the agent, and after `wait` seconds at the latest. Returns the same build with the same lease until the agent starts it, so that a lost answer loses nothing. As a WebSocket it sends hints (`look`, `cancel` and `followed`) and takes heartbeats: `{"type":"heartbeat","lease":N,"boot":"..."}`, where the job says so. The socket accepts the text `ping` too; any other message closes it with 1008. Of an agent\'s sockets and waiting polls, the newest two stay open.',
    headers: ["BootId", "Features", "Xcodes"],
    problems: ["conflict"],
    also: { 101: "A WebSocket for hints", 204: "No build for this agent" },
  },
  heartbeat: {
    summary: "Send a heartbeat, which renews the lease",
    description:
      "Send one every `heartbeatSeconds` while a build runs. If the lease has expired, the answer is not a problem: its `cancel` is true.",
    headers: ["HeldLease", "BootId"],
  },
  planBuild: {
    summary: "Send a file with jobs",
    description:
      "Send it where the pipeline file in the commit has `jobs` or `groups`. The service makes the jobs of it, and the lease is over. Each job is compared with the commit before it runs. The same text again has the same answer. A file that cannot be planned is answered with 422, and the build has failed.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict", "too-large", "limit-reached"],
  },
  sendFile: {
    summary: "Send the pipeline file of the default branch",
    description:
      "Send it where the job has `file` and the text has another SHA-256 than `file.hash`; an empty body where the commit has no such file. The service keeps what it says of when the pipeline is built. A file with mistakes changes nothing of that; the pipeline's `triggers.mistake` has the first.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict", "too-large", "malformed-body"],
    bytes: true,
  },
  startBuild: {
    summary: "Start a build",
    description:
      "Confirms that the job arrived. Call it before you run anything. If it is refused, drop the job: the agent no longer holds the build.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  startJob: {
    like: "startBuild",
    summary: "Start a job",
    description: "As `/build/{id}/start`, for a planned job.",
  },
  reportProgress: {
    summary: "Report the commit, the steps, and values to mask",
    description: "The values are masked in the part of the log that is sent after this call.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  reportJobProgress: {
    like: "reportProgress",
    description: "As `/build/{id}/progress`, for a planned job.",
  },
  releaseBuild: {
    summary: "Release a build for another agent",
    description:
      "With `requires`, the build waits for an agent that meets them, and the attempt does not count. With `elsewhere`, once for each build, another agent tries to fetch the source: this agent is passed over while another suitable one is online; if there is none, the answer is 409. With `interrupted`, the attempt counts, and any agent may take the next one.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  releaseJob: {
    like: "releaseBuild",
    summary: "Release a job for another agent",
    description: "As `/build/{id}/release`, for a planned job.",
  },
  writeLog: {
    summary: "Send a chunk of the log",
    description:
      "`offset` is the number of bytes sent before under this lease. `next` is the number of bytes stored: send the bytes from there on again with the next chunk, because the service may hold back some to mask a secret between two chunks.",
    headers: ["Lease"],
    problems: ["lease-lost", "log-gap", "too-large"],
    bytes: true,
  },
  writeJobLog: { like: "writeLog", description: "As `/build/{id}/log`, for a planned job." },
  finishBuild: {
    summary: "Report the result",
    description: "The answer is 200 when the same result is reported again, and 409 for a different one.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  finishJob: { like: "finishBuild", description: "As `/build/{id}/finish`, for a planned job." },
  getEnvironment: {
    summary: "Get the environment of a build",
    description:
      "Call it where the job has `needsEnvironment`, once the pipeline file was read, has no jobs and fits this agent: until then the agent has no secret. The same lease may ask again. If the environment cannot be composed, the build has failed, and the answer is 409.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict", "unavailable", "keyring-unavailable"],
  },
  getJobEnvironment: {
    like: "getEnvironment",
    summary: "Get the environment of a job",
    description: "As `/build/{id}/environment`, for a planned job.",
  },
  reportTests: {
    summary: "Report the tests of a job",
    description:
      "`id` is that of the job; the first job has the id of its build. The last report of a lease counts. Where `failedBefore` has ids of tests that passed in this job, send the same report once more with these in `passed`: then they are flaky.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  findCache: {
    summary: "Find entries of the cache",
    description:
      "The entries of the build's own branch, of the base of its pull request and of the default branch, of the same pipeline. The service knows these from the build.",
    headers: ["Lease"],
    problems: ["lease-lost", "conflict"],
  },
  openCache: {
    summary: "Begin to save an entry of the cache",
    description:
      "For the build's own branch. An entry never changes: a key that is taken, or that another job is saving, is refused. With the grant of an earlier answer, also one that has expired, the same body continues that save.",
    headers: ["Lease", "EarlierGrant"],
    problems: ["lease-lost", "conflict", "limit-reached"],
  },
  sendCachePart: {
    summary: "Send a part of an entry of the cache",
    description: "Parts are numbered from 1. All but the last have `partBytes` bytes. A part may be sent again.",
    headers: ["Grant", "ContentSha256"],
    problems: ["malformed-body", "conflict"],
    bytes: true,
  },
  finishCache: {
    summary: "Finish an entry of the cache",
    description:
      "From now on builds find it. Entries of the same branch that were not used for long give way to it. It may be repeated.",
    headers: ["Lease", "Grant"],
    problems: ["lease-lost", "conflict", "limit-reached"],
  },
  downloadCache: {
    summary: "Download a granted entry of the cache",
    description: "The compressed tar, or a `Range` of it.",
    headers: ["Range"],
    problems: ["gone"],
    also: { 206: "The bytes of the `Range`", 416: "There are not these bytes" },
    text: { types: ["application/octet-stream"], alone: true },
  },
};
