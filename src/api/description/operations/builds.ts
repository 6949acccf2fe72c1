import type { Documentation, Operations } from "../documentation.ts";

const GATE =
  "Needs the role that the gate names, which may be above member. A gate is decided once: the same decision again has the same answer, another one is 409.";
const BYTES: Documentation["text"] = { types: ["application/octet-stream"], alone: true };
const OF_RANGE = { 206: "The bytes of the `Range`", 416: "There are not these bytes" };

export const BUILD_OPERATIONS: Operations = {
  listBuildArtifacts: { summary: "List the artifacts of a build", description: "Those of all its jobs." },
  listJobArtifacts: { like: "listBuildArtifacts", summary: "List the artifacts of a job" },
  getArtifact: {
    summary: "Get an artifact with its files",
    description: "`id` is that of the job; the first job has the id of its build.",
    problems: ["gone"],
  },
  downloadFile: {
    summary: "Download a file of an artifact",
    headers: ["IfNoneMatch", "IfRange", "Range"],
    problems: ["gone"],
    also: { ...OF_RANGE, 304: "You have it: its ETag is in `If-None-Match`" },
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
      "Whoever has the address may download the artifact, or the file or folder `path` of it, without a token. It cannot be taken back but by deleting the artifact.",
    problems: ["gone"],
  },
  removeArtifact: { summary: "Delete an artifact", description: "It cannot be undone." },
  listBuildTests: {
    summary: "List the tests of a build",
    description:
      "For each job that reported tests: those that failed or were flaky, and the slowest. Reports of more than 3 MiB together come in pages.",
    problems: ["gone"],
  },
  getJobTests: {
    summary: "Get the tests of a job",
    description: "`id` is that of the job; the first job has the id of its build.",
    problems: ["gone"],
  },
  getJob: { summary: "Get a job", description: "One job, with its steps. The first job of a build has its id." },
  explainJob: { summary: "Explain why a job waits, agent by agent" },
  cancelJob: {
    summary: "Cancel a job",
    description: "The other jobs of the build go on, but for those that need it. The answer is 409 when it has ended.",
    problems: ["conflict"],
  },
  approveJob: { summary: "Open a job's gate", description: GATE, problems: ["conflict"] },
  rejectJob: { summary: "Keep a job's gate closed", description: `The job fails. ${GATE}`, problems: ["conflict"] },
  approveBuild: {
    summary: "Open the gate of a build",
    description: `For a build in which one gate asks. ${GATE}`,
    problems: ["conflict"],
  },
  rejectBuild: {
    summary: "Keep the gate of a build closed",
    description: `For a build in which one gate asks: its job fails. ${GATE}`,
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
      "A build in the list has no environment, steps and summary: read the build by its id. A list of ended builds may miss a build that ended a moment ago.",
  },
  triggerBuild: {
    summary: "Trigger a build of a repository or pipeline",
    description:
      "`envVariables` override every other scope for this build; they are stored sealed and never returned. A caller who can trigger a build can run code with its secrets.",
    headers: ["IdempotencyKey"],
    problems: ["conflict", "idempotency-mismatch", "limit-reached"],
  },
  getBuild: { summary: "Get a build" },
  deleteBuild: {
    summary: "Delete a build that has ended, with its log",
    description: "It cannot be undone. Its number is not used again, and the audit log keeps who deleted it.",
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
      "A new build. With `only: failed`, jobs that succeeded keep their results and outputs; those that failed, were canceled or dropped, and all that need them, run again on the same commit and file.",
    headers: ["IdempotencyKey"],
    problems: ["conflict", "idempotency-mismatch", "limit-reached"],
  },
  readLog: {
    summary: "Read or follow a build's log",
    description:
      "Returns text: the complete log, or a `Range` of it. With `Accept: text/event-stream` the answer follows the log live: the data of each event is one JSON string, `Last-Event-ID` resumes after an event, and the event `end` is the last one.",
    headers: ["Range", "LastEventId"],
    also: { 206: "The bytes of the `Range`", 416: "The log does not have these bytes" },
    text: { types: ["text/plain", "text/event-stream"], alone: true },
  },
  readJobLog: {
    like: "readLog",
    summary: "Read or follow a job's log",
    description: "As `/build/{id}/log`, which is the log of the first job: with planned jobs, the plan alone.",
  },
  listLogTimes: {
    summary: "List when the parts of a build's log were stored",
    description:
      "Each entry holds from its `offset`, a byte of the log, to that of the next one: a line has the time of the part in which it begins. Parts that release 0.3.0 stored have no time.",
  },
  listJobLogTimes: { like: "listLogTimes", summary: "List when the parts of a job's log were stored" },
  deleteLog: {
    summary: "Delete the log of a build that has ended",
    description: "The log of every attempt. The build stays. It cannot be undone.",
    problems: ["conflict"],
  },
};
