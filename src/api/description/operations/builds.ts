import type { Documentation, Operations } from "../documentation.ts";

const GATE =
  "Requires the role that the gate names, which may be above member. A gate is decided once: repeating the decision returns the same answer, and a different decision returns 409.";
const BYTES: Documentation["text"] = { types: ["application/octet-stream"], alone: true };
const OF_RANGE = { 206: "The bytes of the `Range`", 416: "These bytes do not exist" };

export const BUILD_OPERATIONS: Operations = {
  listBuildArtifacts: { summary: "List a build's artifacts", description: "The artifacts of all its jobs." },
  listJobArtifacts: { like: "listBuildArtifacts", summary: "List a job's artifacts" },
  getArtifact: {
    summary: "Get an artifact with its files",
    description: "`id` is the job's id; the first job has its build's id.",
    problems: ["gone"],
  },
  downloadFile: {
    summary: "Download a file of an artifact",
    headers: ["IfNoneMatch", "IfRange", "Range"],
    problems: ["gone"],
    also: { ...OF_RANGE, 304: "Not modified: `If-None-Match` has the file's ETag" },
    text: BYTES,
  },
  downloadZip: {
    summary: "Download an artifact, or a folder of it, as a ZIP archive",
    problems: ["gone"],
    text: { types: ["application/zip"], alone: true },
  },
  shareArtifact: {
    summary: "Share an artifact for some hours",
    description:
      "Anyone with the address can download the artifact, or its file or folder `path`, without a token. To revoke the address, delete the artifact.",
    problems: ["gone"],
  },
  removeArtifact: { summary: "Delete an artifact", description: "This cannot be undone." },
  listBuildTests: {
    summary: "List a build's tests",
    description:
      "For each job that reported tests: the failed, flaky and slowest tests. Reports of more than 3 MiB in total come in pages.",
    problems: ["gone"],
  },
  getJobTests: {
    summary: "Get a job's tests",
    description: "`id` is the job's id; the first job has its build's id.",
    problems: ["gone"],
  },
  getJob: { summary: "Get a job", description: "One job, with its steps. A build's first job has the build's id." },
  explainJob: { summary: "Explain why a job waits, agent by agent" },
  cancelJob: {
    summary: "Cancel a job",
    description:
      "The build's other jobs continue, except those that need it. The answer is 409 when the job has ended.",
    problems: ["conflict"],
  },
  approveJob: { summary: "Approve a job's gate", description: GATE, problems: ["conflict"] },
  rejectJob: { summary: "Reject a job's gate", description: `The job fails. ${GATE}`, problems: ["conflict"] },
  approveBuild: {
    summary: "Approve a build's gate",
    description: `For a build in which one gate waits for a decision. ${GATE}`,
    problems: ["conflict"],
  },
  rejectBuild: {
    summary: "Reject a build's gate",
    description: `For a build in which one gate waits for a decision: its job fails. ${GATE}`,
    problems: ["conflict"],
  },
  triggerRepositoryBuild: {
    summary: "Trigger a build of a repository with its default pipeline",
    headers: ["IdempotencyKey"],
    problems: ["conflict", "idempotency-mismatch", "limit-reached"],
  },
  listBuilds: {
    summary: "List builds, newest first",
    description:
      "Builds in the list have no environment, steps or summary: get the build by its id for these. A list of ended builds may miss a build that ended a moment ago.",
  },
  triggerBuild: {
    summary: "Trigger a build of a repository or pipeline",
    description:
      "`envVariables` override every other scope for this build. The service stores them sealed and never returns them. A caller who can trigger a build can run code with its secrets.",
    headers: ["IdempotencyKey"],
    problems: ["conflict", "idempotency-mismatch", "limit-reached"],
  },
  getBuild: { summary: "Get a build" },
  deleteBuild: {
    summary: "Delete a build that has ended, with its log",
    description:
      "This cannot be undone. The build's number is not used again, and the audit log records who deleted it.",
    problems: ["conflict"],
  },
  cancelBuild: {
    summary: "Cancel a build",
    description: "The answer is 200 again while the build is canceling, and 409 when it has ended.",
    problems: ["conflict"],
  },
  explainBuild: { summary: "Explain why a build waits, agent by agent" },
  retryBuild: {
    summary: "Retry a build with the same inputs",
    description:
      "Creates a new build. With `only: failed`, jobs that succeeded keep their results and outputs. Jobs that failed, were canceled or dropped, and all jobs that need them, run again on the same commit and file.",
    headers: ["IdempotencyKey"],
    problems: ["conflict", "idempotency-mismatch", "limit-reached"],
  },
  readLog: {
    summary: "Read or follow a build's log",
    description:
      "Returns text: the complete log, or a `Range` of it. With `Accept: text/event-stream` the answer follows the log live. Each event's data is one JSON string, `Last-Event-ID` resumes after an event, and the event `end` is the last one.",
    headers: ["Range", "LastEventId"],
    also: { 206: "The bytes of the `Range`", 416: "The log does not have these bytes" },
    text: { types: ["text/plain", "text/event-stream"], alone: true },
  },
  readJobLog: {
    like: "readLog",
    summary: "Read or follow a job's log",
    description:
      "Same as `/build/{id}/log`, which is the first job's log: in a build with planned jobs, the planning alone.",
  },
  listLogTimes: {
    summary: "List the storage times of a build's log parts",
    description:
      "Each entry covers the log from its `offset`, in bytes, to the next entry's. A line has the time of the part in which it begins. Parts that release 0.3.0 stored have no time.",
  },
  listJobLogTimes: { like: "listLogTimes", summary: "List the storage times of a job's log parts" },
  deleteLog: {
    summary: "Delete the log of a build that has ended",
    description: "Deletes the log of every attempt. The build stays. This cannot be undone.",
    problems: ["conflict"],
  },
};
