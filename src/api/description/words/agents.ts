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
    name: "Name of the agent, for people. Need not be unique.",
    orgId: "Id of the organization.",
    platform: "Platform of the machine: 0 other, 1 macOS, 2 Linux, 3 Windows.",
    status: "0 offline, 1 idle, 2 busy, 3 draining.",
    isOnline: `true: the agent called within the last ${PERIODS.onlineSeconds} seconds, or has a WebSocket open.`,
    canBuildIOS: "true: takes builds that require ios.",
    canBuildAndroid: "true: takes builds that require android.",
    canBuildWeb: "true: takes builds that require web.",
    lastHeartbeatAt: "When the agent last called the service, its registration included.",
    labels: "Further capabilities. A build that requires labels runs only on agents that have all of them.",
    version: "Version of the agent program; null if the agent did not report one.",
    isDraining: "true: the agent finishes its build and receives no other.",
    isEphemeral: "true: the agent runs one build and is then removed.",
    currentBuildId: "The build that the agent holds a lease on; null if there is none.",
    createdAt: "Time of the registration.",
    registeredBy: "The token that registered the agent; null for an agent that registered before this was recorded.",
    features:
      "What its program can do beyond the first protocol: environment, jobs, retry, include, files, tools, artifacts. Empty for agents before 0.6.0. New values may be added.",
    xcodes: "Versions of Xcode that the agent said its machine has, for jobs with `tools: { xcode: ... }`.",
  },
  RegisteredBy: {
    is: "The token that registered an agent.",
    tokenId: "Id of the token.",
    kind: "Kind of the token.",
    name: "Name of the token at that time.",
  },
  AgentRegistration: {
    is: "How an agent describes itself when it registers. Unknown fields are ignored.",
    like: "Agent",
    protocol: "Version of the agent protocol that the agent supports, if it reports one.",
  },
  AgentUpdate: {
    is: "A change of an agent. Fields that the service manages may be included if they are unchanged.",
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
    is: "The queue and the agents of an organization at one moment.",
    orgId: "Id of the organization.",
    at: "Time of the measurement.",
    builds: "Active builds by state.",
    "builds.waiting": "Number of builds in the queue.",
    ...LEASED_COUNTS,
    oldestWaitSeconds: "Seconds that the oldest build of the queue has waited; 0 if the queue is empty.",
    agents: "Agents by status.",
    "agents.registered": "Number of all agents.",
    "agents.online": `Number of agents that called within the last ${PERIODS.onlineSeconds} seconds.`,
    "agents.idle": "Number of online agents without a build.",
    "agents.busy": "Number of online agents with a build.",
    "agents.draining": "Number of online agents that receive no further build.",
    "agents.offline": `Number of agents that did not call within the last ${PERIODS.onlineSeconds} seconds.`,
    outbox: "Changes that are not written to the database yet.",
    "outbox.builds": "Number of builds whose current state lists do not show yet.",
    "outbox.failures": "Number of consecutive failed attempts to write to the database.",
    "outbox.deadLetters": "Number of rows that the database rejected. They are kept for an operator to inspect.",
    "outbox.parked": "The old name of deadLetters. It is removed with the next breaking change.",
    byRequirement: "The same figures for each set of requirements that an active build has.",
  },
  RequirementMetrics: {
    is: "The builds and agents of one set of requirements: enough to decide how many agents to start.",
    requires: "The requirements of these builds.",
    waiting: "Number of these builds in the queue.",
    running: "Number of these builds that an agent holds.",
    oldestWaitSeconds: "Seconds that the oldest of them has waited; 0 if none waits.",
    agents: "Number of online agents that can run such a build.",
    idle: "Number of those agents without a build.",
  },
  Heartbeat: {
    is: "The answer to a heartbeat.",
    cancel: "true: stop the build of this lease.",
    leaseExpiresAt: "When the lease expires if no further heartbeat arrives. Absent if the request named no lease.",
    reason:
      "Why to stop the build: canceled by a person or program; timeout; lease-lost, the agent no longer holds the build. Absent otherwise.",
  },
  Job: {
    is: "Everything that an agent needs to run one build.",
    build: "The build.",
    lease: "The lease, for the header X-Lease of every call about the build.",
    leaseExpiresAt: "When the lease expires if the build is not started. Later, heartbeats renew it.",
    repository: "The source of the build.",
    "repository.fullName": "Owner and name.",
    "repository.cloneUrl": "Address that git fetches from.",
    "repository.credential": "Credential for the fetch only; null or absent if the repository has none.",
    pipeline: "What to run.",
    "pipeline.name": "Name of the pipeline. Without a pipeline: name of the repository.",
    "pipeline.configPath": "Path of the pipeline file in the commit.",
    "pipeline.definition":
      "The pipeline file, if it is stored with the pipeline. It takes precedence over configPath. Otherwise null.",
    env: "The composed environment: values by name, in plain text.",
    secretKeys: "Names in env and files whose values must be masked.",
    runKeys:
      "Names in env that come from the envVariables of the build. They take precedence over the env of the file.",
    files:
      "Variables of type file, by name, none of which is in env: write each to a file that only its steps can read, and set the variable to its path. Absent where there are none.",
    requires: "What the pipeline and the trigger require of an agent.",
    heartbeat:
      "socket: heartbeats may also be sent as messages on the agent's WebSocket. Ignore values that you do not know.",
    mayGoElsewhere: "true: the agent may release the build with elsewhere if it cannot fetch the source.",
    timeoutSeconds: "Maximum duration of the build, in seconds.",
    purpose:
      "read-file: only read the pipeline file and finish as skipped, unless file.decides and its `on` wants this push. Absent: run it. Ignore values that you do not know.",
    file: "Send the pipeline file if its SHA-256 is another one. Absent: do not send it.",
    "file.hash": "SHA-256 of the text that the service has; null if it has none.",
    "file.decides": "true: the file's `on` holds. false: the pipeline's own.",
    paths:
      "Patterns of files. Finish as skipped if none that they match has changed; run the build if that cannot be found out. Absent: run it.",
    base: "What changes are counted from: where the history left a branch, or a commit. Absent: every file counts as changed.",
    job: "The planned job to run, whose file is pipeline.definition. Absent: the first job of the build.",
    needsEnvironment:
      "true: env is empty. Ask for the environment once the pipeline file was read, has no jobs and fits this agent.",
  },
  JobCredential: {
    is: "A credential for the fetch of a private repository.",
    kind: "token: a password or access token for https. ssh-key: a private key.",
    username: "User name for a token; null where the host needs none.",
    value: "The token or the key, in plain text.",
  },
  Progress: {
    is: "The progress of a build. Each field is optional; unknown fields are ignored.",
    commitSha: "The commit that was checked out.",
    base: "The commit from which changes count.",
    steps: "All steps in their current state.",
    masks: `Values to mask from now on, at most ${withCommas(LIMITS.maskCharacters)} characters each.`,
    summary: "Markdown for people. It replaces the previous summary.",
  },
  Release: {
    is: "Why the agent releases a build, and what the build needs.",
    reason: `The reason, for people, at most ${withCommas(LIMITS.releaseReasonCharacters)} characters.`,
    requires: "What the pipeline file requires of an agent, in addition to the requirements so far.",
    elsewhere:
      "true: this agent cannot fetch the source, and another agent may try. The answer is 409 if there is no other agent, or one has already tried.",
    interrupted:
      "true: the agent was stopped during the build. The attempt counts, and any agent may take the next one.",
  },
  Finish: {
    is: "The result of a build.",
    status: "The result.",
    exitCode: `Exit code of the decisive step, 0 to ${LIMITS.exitCode}; null if there is none.`,
    reason: "The cause, if it was not a step; null or left out otherwise.",
    message: `An explanation for people, at most ${withCommas(LIMITS.messageCharacters)} characters. It is masked like the log.`,
    outputs: `Outputs of a planned job that succeeded, by name: at most ${byteSize(LIMITS.outputBytes)}. One that has a secret in it fails the job.`,
  },
  LogAccepted: {
    is: "How much of the log is stored.",
    next: "Number of bytes of this lease that are stored durably: continue from here.",
    followed:
      "Whether anybody follows the log. While nobody does, a chunk every half minute is enough; the hint followed says that somebody began to.",
  },
};
