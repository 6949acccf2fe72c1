import { byteSize, LIMITS, withCommas } from "../../../protocol/limits.ts";
import type { Words } from "./schema-words.ts";

const MATRIX = "The combination of its matrix: values by axis; null if the job has no matrix.";
const RESULT = "How it ended, as far as others are concerned: a job that may fail has success.";
const OUTCOME = "How it ended, whether or not it may fail.";

/** The schemas of builds of several jobs. */
export const JOBS: Words = {
  JobStatus: {
    is: "State of a job. waiting: for what it needs, or for a gate. skipped: its own condition was false, or what it needs was skipped. dropped: what it needs failed, was canceled or dropped. The others are those of a build.",
  },
  Cause: {
    is: "Why a job did not run, or was stopped.",
    fields: {
      kind: "condition: its own `if` was false. need-skipped, need-failed, need-canceled: what became of the job it needs. fail-fast: another job failed. canceled: by a person, a program or a newer commit. gate: it was not approved.",
      job: "Key of the other job; null if there is none.",
      text: "The condition, or what a person said; null if there is nothing of the kind.",
    },
  },
  JobGate: {
    is: "A gate: a person has to let the job run.",
    fields: {
      message: "What the gate asks; null if the file says nothing.",
      by: "The least role of whoever decides.",
      groups: "Protected variable groups that wait for the same decision.",
      since: "When the gate began to ask; null until then.",
      until: "When the job fails if nobody has decided; null until the gate asks.",
      decision: "What was decided; null until then.",
    },
  },
  GateDecision: {
    is: "What a person decided on a gate.",
    fields: {
      approved: "true: the job may run. false: it has failed.",
      at: "When it was decided.",
      by: "Name of the token that decided.",
      comment: "What was said with it; null if nothing was.",
    },
  },
  JobOfBuild: {
    is: "One job of a build of several.",
    fields: {
      id: "Id of the job.",
      key: "Unique in the build: the key in the file, with the values of its matrix in parentheses.",
      definition: "The key in the file. The jobs of one matrix share it.",
      name: "A name for people.",
      matrix: MATRIX,
      needs: "Keys in the file of the jobs that it needs.",
      depth: "0 for a job that needs none; otherwise one more than the deepest job that it needs.",
      status: "State of the job.",
      mayFail: "true: the build can succeed although this job failed.",
      cause: "Why it did not run, or was stopped; null otherwise.",
      gate: "What a person has to decide; null if the job has no gate.",
      agentId: "The agent that holds the job, or held it last; null before the first.",
      attempt: "Number of times that an agent has started the job. Each attempt has its own log.",
      retries: "Number of tries that failed and were followed by another. Absent if the file gives the job one try.",
      exitCode: "Exit code of the decisive step; null if there is none.",
      reason: "Why the job ended, if the cause was not a step; null otherwise.",
      message: "An explanation for people; null if there is none.",
      queuedAt: "When it could run: what it needs had ended, and its gate was open; null before.",
      startedAt: "When an agent first started the job; null until then.",
      finishedAt: "When the job ended; null until then.",
      tests: "How many tests failed and passed; null where the job reported none.",
      adoptedFrom: "Id of the build whose result of this job was taken over; null if it ran in this build.",
    },
  },
  BuildJob: {
    is: "One job of a build of several, with all that is known of it.",
    like: "JobOfBuild",
    fields: {
      buildId: "Id of the build.",
      environment: "Names of the variables that the job received, without values; null until it is handed out.",
      steps: "The steps in order, as the agent last reported them.",
      summary: "Markdown that the steps wrote for people; null if they wrote none.",
      leak: "true: the service masked a secret that the agent had not masked.",
      outputs: "The outputs of the attempt that succeeded, by name.",
    },
  },
  WaitsFor: {
    is: "A gate that a build waits for.",
    fields: { jobId: "Id of the job.", key: "Key of the job.", gate: "What it asks, and who may decide." },
  },
  GateAnswer: {
    is: "What is said with a decision on a gate.",
    fields: {
      comment: `A comment, at most ${withCommas(LIMITS.gateCommentCharacters)} characters.`,
      commitSha:
        "The commit that the person looked at: a build of another one is not approved. Left out or null: the commit of the build.",
    },
  },
  BuildRetry: {
    is: "What of a build to repeat.",
    fields: { only: "failed: only what did not succeed, and all that needs it. Left out or null: the whole build." },
  },
  CheckedJob: {
    is: "A job that a build of the file would have, on the default branch.",
    fields: {
      key: "Unique in the build: the key in the file, with the values of its matrix in parentheses.",
      definition: "The key in the file.",
      name: "A name for people.",
      matrix: MATRIX,
      needs: "Keys in the file of the jobs that it needs.",
      requires: "What an agent must have, with what the pipeline requires.",
      gate: "The least role of whoever lets it run; null if nobody has to.",
      groups: "Variable groups that it asks for.",
      withheld: "Those of them that it does not get on this branch.",
      agents: "How many registered agents have what it requires.",
    },
  },
  JobToRun: {
    is: "The job of a build of several that the agent got.",
    fields: {
      id: "Id of the job, for every call about it.",
      key: "Unique in the build.",
      definition: "The key of the job in the file.",
      name: "A name for people.",
      matrix: MATRIX,
      attempt: "The number of this attempt, from 1.",
      needs: "How the jobs that it needs have ended.",
      hash: "SHA-256 of the file that the jobs were planned from; where it includes others, of all of them, as docs/agent.md says. If the commit has another one, fail the job as plan-mismatch before a step runs.",
      path: "Path of that file in the commit; null for a definition in the pipeline's record, which no commit has.",
    },
  },
  Needs: {
    is: "The jobs that a job needs, by their keys in the file.",
    fields: {
      "{}.result": RESULT,
      "{}.outcome": OUTCOME,
      "{}.outputs": "The outputs, by name; null if a matrix made several jobs of it: see jobs.",
      "{}.jobs": "One entry for each combination of the matrix; one entry without a matrix.",
      "{}.jobs[].matrix": MATRIX,
      "{}.jobs[].result": RESULT,
      "{}.jobs[].outcome": OUTCOME,
      "{}.jobs[].outputs": "The outputs, by name.",
    },
  },
  PlanToAccept: {
    is: "The file of a build of several jobs, as the agent read it in the commit.",
    fields: {
      commitSha: "The commit.",
      path: "Path of the file: the one that the pipeline names.",
      text: `The file, at most ${byteSize(LIMITS.definitionCharacters)}. Not looked at where the pipeline's record has a definition.`,
      base: "The commit from which changes count.",
      changed: "For each pattern that conditions of jobs name with changed(): whether a file changed that it matches.",
      includes: "The files that it includes, directly or not, as the commit has them; left out where it includes none.",
    },
  },
  IncludedFile: {
    is: "A file that a pipeline file includes.",
    fields: { path: "Its path from the repository's root.", text: "The file." },
  },
  IncludedFiles: { is: `At most ${LIMITS.includes} files, each path once.`, fields: {} },
  PlanAccepted: {
    is: "The jobs that were made of the file.",
    fields: { jobs: "The jobs, in the order of the file.", "jobs[].id": "Id of the job.", "jobs[].key": "Its key." },
  },
  EnvironmentRequest: {
    is: "What the agent found out before it asks for the environment.",
    fields: {
      commitSha: "The commit that it fetched.",
      base: "The commit from which changes count.",
      steps: "The steps of the file, as in a report of progress: it saves the first one.",
    },
  },
  HandedEnvironment: {
    is: "The composed environment of a build.",
    fields: {
      env: "Values by name, in plain text.",
      secretKeys: "Names in env and files whose values must be masked.",
      runKeys: "Names in env that come from the envVariables of the build.",
      files: "Variables of type file, by name, none of which is in env. Absent where there are none.",
    },
  },
};
