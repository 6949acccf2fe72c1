import { BUILD_STATES, LEASED } from "../../../protocol/build-states.ts";
import { byteSize, LIMITS, PERIODS, withCommas } from "../../../protocol/limits.ts";
import type { Words } from "../documentation.ts";

const LEASED_COUNTS = Object.fromEntries(
  LEASED.map((status) => [`builds.${status}`, `Number of builds in this state: ${BUILD_STATES[status].meaning}.`]),
);

export const AGENT_WORDS: Words = {
  Agent: {
    is: "An agent: a program on a machine that runs builds.",
    id: "Id of the agent.",
    name: "Display name of the agent. It need not be unique.",
    orgId: "Id of the organization.",
    platform: "Platform of the machine: 0 other, 1 macOS, 2 Linux, 3 Windows.",
    status: "0 offline, 1 idle, 2 busy, 3 draining.",
    isOnline: `true: the agent called within the last ${PERIODS.onlineSeconds} seconds, or has a WebSocket open.`,
    canBuildIOS: "true: the agent runs builds that require ios.",
    canBuildAndroid: "true: the agent runs builds that require android.",
    canBuildWeb: "true: the agent runs builds that require web.",
    lastHeartbeatAt: "When the agent last called the service, including its registration.",
    labels: "Further capabilities. A build that requires labels runs only on agents that have all of them.",
    version: "Version of the agent program; null if the agent did not report one.",
    isDraining: "true: the agent finishes its build and receives no other build.",
    isEphemeral: "true: the agent runs one build and is then removed.",
    currentBuildId: "The build that the agent holds a lease on; null without one.",
    createdAt: "Time of the registration.",
    registeredBy:
      "The token that registered the agent; null for an agent that registered before the service recorded this token.",
    features:
      "The program's features beyond the first protocol: environment, jobs, retry, include, files, tools, artifacts. Empty for agents before 0.6.0. New values may be added.",
    xcodes:
      "The Xcode versions on the agent's machine, as the agent reported them, for jobs with `tools: { xcode: ... }`.",
  },
  RegisteredBy: {
    is: "The token that registered an agent.",
    tokenId: "Id of the token.",
    kind: "Kind of the token.",
    name: "Name of the token when the agent registered.",
  },
  AgentRegistration: {
    is: "An agent's registration. The service ignores unknown fields.",
    like: "Agent",
    protocol: "The agent protocol version that the agent supports, if it reports one.",
  },
  AgentUpdate: {
    is: "Changes to an agent. Fields that the service manages may be included if they are unchanged.",
    like: "Agent",
  },
  RegisteredAgent: {
    is: "The new agent and its token.",
    like: "Agent",
    token: "The agent's own token. No later answer contains it.",
    heartbeatSeconds: "Seconds between heartbeats while the agent runs a build.",
    pollSeconds: "Maximum number of seconds to wait in one poll.",
  },
  Metrics: {
    is: "An organization's queue and agents at one moment.",
    orgId: "Id of the organization.",
    at: "Time of the measurement.",
    builds: "Active builds by state.",
    "builds.waiting": "Number of builds in the queue.",
    ...LEASED_COUNTS,
    oldestWaitSeconds: "Seconds that the oldest queued build has waited; 0 if the queue is empty.",
    agents: "Agents by status.",
    "agents.registered": "Number of all agents.",
    "agents.online": `Number of agents that called within the last ${PERIODS.onlineSeconds} seconds.`,
    "agents.idle": "Number of online agents without a build.",
    "agents.busy": "Number of online agents with a build.",
    "agents.draining": "Number of online agents that receive no more builds.",
    "agents.offline": `Number of agents that did not call within the last ${PERIODS.onlineSeconds} seconds.`,
    outbox: "Changes that the pool has not yet written to the database.",
    "outbox.builds": "Number of builds whose current state is not yet in lists.",
    "outbox.failures": "Number of consecutive failed attempts to write to the database.",
    "outbox.deadLetters": "Number of rows that the database rejected. The pool keeps them for an operator to inspect.",
    "outbox.parked": "The old name of deadLetters. The next breaking change removes it.",
    byRequirement: "The same figures for each set of requirements that an active build has.",
  },
  RequirementMetrics: {
    is: "The builds and agents for one set of requirements: enough to decide how many agents to start.",
    requires: "The requirements of these builds.",
    waiting: "Number of these builds in the queue.",
    running: "Number of these builds that an agent holds.",
    oldestWaitSeconds: "Seconds that the oldest of these queued builds has waited; 0 if no build waits.",
    agents: "Number of online agents that can run such a build.",
    idle: "Number of those agents without a build.",
  },
  Heartbeat: {
    is: "The answer to a heartbeat.",
    cancel: "true: stop the build of this lease.",
    leaseExpiresAt: "When the lease expires if no other heartbeat arrives. Absent if the request named no lease.",
    reason:
      "Why to stop the build. canceled: by a person or program. timeout. lease-lost: the agent no longer holds the build. Absent otherwise.",
  },
  Job: {
    is: "Everything that an agent needs to run one build.",
    build: "The build.",
    lease: "The lease, for the header X-Lease of every call about the build.",
    leaseExpiresAt: "When the lease expires if the agent does not start the build. Later, heartbeats renew it.",
    repository: "The source of the build.",
    "repository.fullName": "Owner and name.",
    "repository.cloneUrl": "Address that git fetches from.",
    "repository.credential": "Credential for the fetch alone; null or absent if the repository has none.",
    pipeline: "What to run.",
    "pipeline.name": "The pipeline's name; without a pipeline, the repository's name.",
    "pipeline.configPath": "Path of the pipeline file in the commit.",
    "pipeline.definition":
      "The pipeline file, if the pipeline's record stores it; otherwise null. It takes precedence over configPath.",
    env: "The composed environment: values by name, in plain text.",
    secretKeys: "Names in env and files whose values must be masked.",
    runKeys: "Names in env that come from the build's envVariables. They take precedence over the file's env.",
    files:
      "Variables of type file, by name. They are not in env: write each to a file that only the build's steps can read, and set the variable to its path. Absent without such variables.",
    requires: "The requirements of the pipeline and the trigger.",
    heartbeat:
      "socket: the agent may also send heartbeats as messages on its WebSocket. Ignore values that you do not know.",
    mayGoElsewhere: "true: the agent may release the build with elsewhere if it cannot fetch the source.",
    timeoutSeconds: "Maximum duration of the build, in seconds.",
    purpose:
      "read-file: only read the pipeline file and finish as skipped, unless file.decides is true and the file's `on` matches this push. Absent: run the build. Ignore values that you do not know.",
    file: "Send the pipeline file if its SHA-256 differs from file.hash. Absent: do not send it.",
    "file.hash": "SHA-256 of the text that the service has; null if it has no text.",
    "file.decides": "true: the file's `on` applies. false: the pipeline record's `on` applies.",
    paths:
      "File patterns. If no matching file has changed, finish as skipped. If the agent cannot determine the changes, run the build. Absent: run the build.",
    base: "Where changes count from: the point where the history left a branch, or a commit. Absent: every file counts as changed.",
    job: "The planned job to run, whose file is pipeline.definition. Absent: the first job of the build.",
    needsEnvironment:
      "true: env is empty. Request the environment after reading a pipeline file that has no jobs and fits this agent.",
  },
  JobCredential: {
    is: "A credential for the fetch of a private repository.",
    kind: "token: a password or access token for https. ssh-key: a private key.",
    username: "User name for a token; null if the host needs no user name.",
    value: "The token or the key, in plain text.",
  },
  Progress: {
    is: "The progress of a build. Every field is optional. The service ignores unknown fields.",
    commitSha: "The commit that the agent checked out.",
    base: "The commit from which changes count.",
    steps: "All steps in their current state.",
    masks: `More values to mask, at most ${withCommas(LIMITS.maskCharacters)} characters each.`,
    summary: "Markdown text. It replaces the previous summary.",
  },
  Release: {
    is: "Why the agent releases a build, and the build's requirements.",
    reason: `The reason, at most ${withCommas(LIMITS.releaseReasonCharacters)} characters.`,
    requires: "The pipeline file's requirements, in addition to the requirements so far.",
    elsewhere:
      "true: this agent cannot fetch the source, and another agent may try. The answer is 409 if there is no other agent, or if another agent has already tried.",
    interrupted:
      "true: the agent was stopped during the build. The attempt counts, and any agent may run the next attempt.",
  },
  Finish: {
    is: "The result of a build.",
    status: "The result.",
    exitCode: `The decisive step's exit code, 0 to ${LIMITS.exitCode}; null without one.`,
    reason: "The cause, if it was not a step; null or left out otherwise.",
    message: `An explanation, at most ${withCommas(LIMITS.messageCharacters)} characters. It is masked like the log.`,
    outputs: `Outputs of a planned job that succeeded, by name: at most ${byteSize(LIMITS.outputBytes)}. An output that contains a secret fails the job.`,
  },
  LogAccepted: {
    is: "How much of the log is stored.",
    next: "Number of this lease's bytes that are stored durably: continue from here.",
    followed:
      "true: somebody follows the log. While nobody does, a chunk every half minute is enough; the hint followed says when somebody starts.",
  },
};
