import { BUILD_STATES, LEASED } from "../../../protocol/build-states.ts";
import type { Words } from "./schema-words.ts";

const LEASED_COUNTS = Object.fromEntries(
  LEASED.map((status) => [`builds.${status}`, `How many builds are in this state: ${BUILD_STATES[status].meaning}.`]),
);

export const AGENTS: Words = {
  Agent: {
    is: "A machine's program that takes builds.",
    fields: {
      ...{ id: "Id of the agent.", name: "What people call it; need not be unique.", orgId: "Its organization." },
      platform: "What it runs on: 0 other, 1 macOS, 2 Linux, 3 Windows.",
      status: "0 offline, 1 idle, 2 busy, 3 draining.",
      isOnline: "Heard from within the last 90 seconds; an open socket is heard.",
      canBuildIOS: "Takes builds that require ios.",
      canBuildAndroid: "Takes builds that require android.",
      canBuildWeb: "Takes builds that require web.",
      lastHeartbeatAt: "When it last gave a sign of life, registering included.",
      labels: "What it offers besides: a build that asks for labels needs all of them here.",
      version: "Version of its program, as it said; null where it did not.",
      isDraining: "It finishes the build it has and is given no other.",
      isEphemeral: "It takes one build and is then gone.",
      currentBuildId: "The build it holds a lease on; null where there is none.",
      createdAt: "When it registered.",
      registeredBy: "The token that registered it; null for an agent of before this was kept.",
    },
  },
  RegisteredBy: {
    is: "Who registered an agent.",
    fields: { tokenId: "Id of the token.", kind: "Its kind.", name: "The name it had then." },
  },
  AgentRegistration: {
    ...{ is: "What an agent says of itself when it registers. Unknown fields are ignored.", like: "Agent" },
    fields: { protocol: "Version of the agent protocol that it speaks, where it says so." },
  },
  AgentUpdate: { is: "What to change of an agent. The service's own fields may be sent as they are.", like: "Agent" },
  RegisteredAgent: {
    ...{ is: "The new agent with its token.", like: "Agent" },
    fields: {
      token: "The agent's own token, shown this once.",
      heartbeatSeconds: "Seconds between its heartbeats while it builds.",
      pollSeconds: "Seconds it is to wait in one poll, at most.",
    },
  },
  Metrics: {
    is: "The organization's queue and agents at one moment.",
    fields: {
      ...{ orgId: "The organization.", at: "The moment." },
      builds: "Builds under way, by where they stand.",
      "builds.waiting": "Builds in the queue.",
      ...LEASED_COUNTS,
      oldestWaitSeconds: "Seconds for which the oldest build in the queue has waited; 0 where none waits.",
      agents: "Agents, by where they stand.",
      ...{ "agents.registered": "All agents.", "agents.online": "Agents heard from within 90 seconds." },
      ...{ "agents.idle": "Online and free.", "agents.busy": "Online with a build." },
      ...{ "agents.draining": "Online and taking nothing new.", "agents.offline": "Not heard from for 90 seconds." },
      outbox: "What the database was not told yet.",
      "outbox.builds": "Builds that lists do not show as they are yet.",
      "outbox.failures": "Failed attempts in a row to write to the database.",
      "outbox.parked": "Rows that could never be written and were set aside.",
      byRequirement: "The same for each set of requirements that some build has.",
    },
  },
  RequirementMetrics: {
    is: "What waits for one kind of agent: enough to decide how many more to start.",
    fields: {
      ...{ requires: "What these builds ask of an agent.", waiting: "Such builds in the queue." },
      running: "Such builds that an agent has.",
      oldestWaitSeconds: "Seconds for which the oldest of them has waited; 0 where none waits.",
      agents: "Online agents that could take such a build.",
      idle: "Those of them that are free.",
    },
  },
  Heartbeat: {
    is: "What the service tells an agent that says it is alive.",
    fields: {
      cancel: "Stop the build that the lease is for.",
      leaseExpiresAt: "When the lease ends unless another heartbeat comes. Absent where no lease was named.",
      reason:
        "Why to stop: canceled by a person; timeout; lease-lost, the build is no longer this agent's. Absent otherwise.",
    },
  },
  Job: {
    is: "All an agent needs for one build.",
    fields: {
      ...{ build: "The build.", lease: "The lease, for X-Lease of every call about the build." },
      leaseExpiresAt: "When it ends unless the build is started, and after that unless heartbeats come.",
      repository: "Where the source is.",
      "repository.fullName": "Owner and name.",
      "repository.cloneUrl": "Address that git fetches from.",
      "repository.credential": "For the fetch alone; null or absent where none is stored.",
      pipeline: "What to run.",
      "pipeline.name": "The pipeline's name; the repository's where it has no pipeline.",
      "pipeline.configPath": "Path of the pipeline file in the commit.",
      "pipeline.definition": "The file itself where it is kept with the pipeline; it outranks the path. Else null.",
      env: "The composed environment: values by name, in the clear.",
      secretKeys: "Names in env whose values must be masked.",
      runKeys: "Names in env that envVariables of the run set: they outrank the file's env.",
      requires: "What pipeline and trigger ask of an agent.",
      mayGoElsewhere: "It may be released with elsewhere, should this agent be unable to fetch it.",
      timeoutSeconds: "Seconds the build may take.",
    },
  },
  JobCredential: {
    is: "What the fetch of a private repository authenticates with.",
    fields: {
      kind: "token: a password or access token for https. ssh-key: a private key.",
      username: "User name that goes with a token; null where the host needs none.",
      value: "The token or key, in the clear.",
    },
  },
  Progress: {
    is: "What an agent found out. Each field may come alone; unknown fields are ignored.",
    fields: {
      commitSha: "The commit that was checked out.",
      steps: "All steps as they stand now.",
      masks: "Values to mask in what comes after, at most 65,536 characters each.",
      summary: "Markdown for people; it replaces the one before.",
    },
  },
  Release: {
    is: "Why a build is given back, and what it needs.",
    fields: {
      reason: "For people, at most 2,000 characters.",
      requires: "What the pipeline file asks of an agent: added to what the build required before.",
      elsewhere: "This agent cannot fetch it, and another may try: 409 where there is none, or one has tried.",
      interrupted: "The agent was stopped in the middle: the attempt counts, and any agent may have the next.",
    },
  },
  Finish: {
    is: "A build's result.",
    fields: {
      status: "How it ended.",
      exitCode: "Exit code of the step that decided it, 0 to 255; null where there is none.",
      reason: "Why it ended other than by its steps; null or left out otherwise.",
      message: "What a person should know, at most 4,000 characters; masked as the log is.",
    },
  },
  LogAccepted: {
    is: "How much of the log is safe.",
    fields: { next: "Bytes sent under this lease that are stored for good: send from here on." },
  },
};
