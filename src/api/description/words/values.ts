import { BUILD_STATES, LEASED, STATUSES } from "../../../protocol/build-states.ts";
import { byteSize, LIMITS, PERIODS, withCommas } from "../../../protocol/limits.ts";
import { PIPELINE_DEFAULTS } from "../../../protocol/pipeline.ts";
import type { Words } from "../documentation.ts";

/** Schemas of single values, and of variables. */
export const VALUE_WORDS: Words = {
  AgentCode: {
    is: "Why an agent does not have the build. offline. busy: it holds another build. draining. unresponsive: it did not poll after offers of builds. platform, canBuildIOS, canBuildAndroid, canBuildWeb, labels, xcode: the agent does not meet this requirement. gave-it-back: the agent released this build. too-old: its program does not support planned jobs, or a word in the build's file.",
  },
  AgentStatus: {
    is: `0 offline: no call within ${PERIODS.onlineSeconds} seconds. 1 idle. 2 busy: the agent holds a lease on a build. 3 draining: the agent finishes its build and receives no other build. If several apply, the status is offline, then draining, then busy.`,
  },
  Branch: {
    is: "The short name of a branch, such as main, or a full ref, such as refs/tags/v1 or refs/pull/7/head. The rules of git-check-ref-format apply.",
  },
  Forks: {
    is: "Whether to build pull requests from forks. off: no. approval: after a member approves the commit. members: without approval if the author is a member.",
  },
  BuildReason: {
    is: "Why a build ended, if the cause was not a step. agent-lost: the agent of every attempt was lost. timeout. environment: the service could not compose the environment. requirements-unmet. commit-not-on-branch. pipeline-invalid: the pipeline file has mistakes. checkout-failed. agent-error: the agent's program or machine failed. plan-mismatch: the jobs were planned from another file than the commit's. queue-full: the queue had no room for the jobs. output-refused: an output contains a secret, or the outputs are too large. artifact-failed: the job could not upload or download an artifact. gate-closed: a person rejected the gate, or nobody decided in time. canceled: a person or program canceled the build. fail-fast: another job failed. superseded: a newer commit's build replaced it. skipped: no change matched the pipeline's conditions.",
  },
  BuildStatus: {
    is: `${STATUSES.map((status) => `${status}: ${BUILD_STATES[status].meaning}.`).join(" ")} An ended build never changes.`,
  },
  CloneUrl: { is: "Address that git fetches from: https, ssh or user@host:path, without a password." },
  CommitSha: { is: "Full id of a commit: 40 hexadecimal digits, or 64 in a repository with SHA-256." },
  ConfigPath: {
    is: `Path of the pipeline file from the root of the repository, such as ${PIPELINE_DEFAULTS.configPath} or ci/release.yml.`,
  },
  Definition: {
    is: `Text of a pipeline file (YAML), at most ${withCommas(LIMITS.definitionCharacters)} characters.`,
  },
  DeliveryId: {
    is: "The git host's id for a delivery; ID~MILLISECONDS for one that a person redelivered.",
  },
  Description: { is: "Free text." },
  EnvVariables: {
    is: "Values for this build only, by name. Numbers and booleans become text. The values override every stored scope. They are stored sealed and never returned.",
  },
  FullName: {
    is: "Owner and name, with subgroups between them if the host has subgroups: acme/shop, acme/apps/shop.",
  },
  Id: { is: "A UUID. Ids sort by their time of creation." },
  Key: {
    is: "Name of an environment variable: letters, digits and _; the first character is not a digit. Usually upper case. Names that start with MILLRACE_ are reserved.",
  },
  Label: { is: "A capability that an agent offers and a build requires, such as xcode-26 or gpu. Case-sensitive." },
  Labels: { is: `A list of at most ${LIMITS.labels} labels.` },
  Lease: { is: "Number of a lease. Each new lease has a higher number. Calls with an old lease change nothing." },
  LocationHint: {
    is: "Where most agents of the organization are. wnam: western North America. enam: eastern North America. sam: South America. weur: western Europe. eeur: eastern Europe. apac: Asia and Pacific. oc: Oceania. afr: Africa. me: Middle East.",
  },
  Name: {
    is: "A display name: one line, without control characters, invisible characters or bidirectional controls.",
  },
  NameFilter: { is: "The exact name." },
  OrgId: { is: "Slug of an organization: a-z, 0-9 and -. A slug is never used twice." },
  Origin: {
    is: "A value's source: one of the four scopes; run, the build's envVariables; or service, Millrace itself.",
  },
  Platform: { is: "Platform of an agent: 0 other, 1 macOS, 2 Linux, 3 Windows." },
  QueryFlag: { is: "true or false." },
  Role: {
    is: "viewer: reads. member: also triggers, cancels and retries builds. maintainer: also changes variables, groups, repositories, pipelines and agents. admin: also manages tokens and reads the audit log.",
  },
  Scope: { is: "Kind of the owner of a variable: the organization, a group, a repository or a pipeline." },
  StepStatus: { is: "State of a step: pending, running, succeeded, failed, skipped by its condition, or canceled." },
  Timestamp: { is: "Time in UTC with milliseconds: 2026-11-02T09:00:00.000Z." },
  TokenKind: {
    is: "api: a person's or program's token, with a role. registration: a token that can only register agents.",
  },
  Value: { is: `Any text without NUL, at most ${byteSize(LIMITS.valueBytes)} of UTF-8.` },
  WaitCode: {
    is: `Why the build waits, or its state. no-agents: no agent is registered. no-capable-agent: no agent meets its requirements. needs: a job waits for other jobs. gate: a job waits for approval. max-parallel: agents hold the maximum number of its pipeline's builds or its matrix's jobs. group: other builds hold its concurrency group. dependency-away: the service could not read its environment a moment ago. all-busy: every agent that meets its requirements has another build. behind-others: other builds are ahead of it in the queue. next: an agent is about to get it. ${LEASED.join(", ")}: its state. ended.`,
  },
  Variable: {
    is: "A variable or secret of one scope.",
    id: "Id of the variable.",
    orgId: "Id of the organization.",
    key: "Name of the environment variable. Unique for each owner.",
    value: "The value. Absent for a secret: no answer contains a secret's value.",
    isSecret: "true: the value is stored sealed, masked in logs and never returned.",
    isFile: "true: builds get a file with the value, and its path in the variable. Absent for other variables.",
    fileEncoding:
      "Encoding of the file's value: text, or base64 (RFC 4648) for bytes. Default: text. Absent for other variables.",
    fileName: `Name of the file, without a slash, at most ${LIMITS.fileNameBytes} bytes; null: the variable's name. Absent for other variables.`,
    scope: "The kind of owner. It decides which id is required.",
    repoId: "The repository that owns the variable; null in every other scope.",
    groupId: "The group that owns the variable; null in every other scope.",
    pipelineId: "The pipeline that owns the variable; null in every other scope.",
    description: "The variable's purpose; null without a description.",
    isActive: "true: builds receive the variable.",
    allowOverride: "true: a build's envVariables may override the variable.",
    version: "Version of the variable, from 1. Each change increments it.",
    createdAt: "Time of creation.",
    updatedAt: "Time of the last change.",
    lastUsedAt:
      "The last day (UTC) on which builds received the variable, as the time of that day's first such build; null if no build did.",
    lastUsedBy: "Id of that job; for a build's first job, the build's id; null if no build did.",
    warnings:
      "Why masking may not work well for this secret. short: under 4 characters. mask-text: similar to the mask itself. common-word: logs would contain many masks. json: its single values are not masked when a program extracts them. Absent without warnings.",
  },
  NewVariable: { is: "A variable or secret to create.", like: "Variable" },
  VariableUpdate: { is: "Changes to a variable.", like: "Variable" },
  FileEncoding: { is: "Encoding of a file variable's value: text, or base64 (RFC 4648) for bytes." },
  FileName: {
    is: `Name of a file: no slash, no control characters, not . or .., at most ${LIMITS.fileNameBytes} bytes.`,
  },
  HandedFile: {
    is: "A variable of type file, as an agent gets it.",
    encoding: "text: write the text in UTF-8. base64: write the decoded bytes.",
    text: "The stored value. Mask it if the variable is secret.",
    name: "Name of the file. Absent: the name of the variable.",
  },
  VariableUse: {
    is: "The first build of a day (UTC) that received a variable.",
    buildId: "Id of the job; for a build's first job, the build's id.",
    agentId: "Id of the agent that ran the build.",
    at: "When the agent received the build.",
  },
  Group: {
    is: "A named collection of variables that pipelines attach.",
    id: "Id of the group.",
    orgId: "Id of the organization.",
    name: "Name of the group, unique in the organization.",
    description: "The group's purpose; null without a description.",
    protection: "Which jobs get its variables; null: every job of the pipelines that attach the group.",
    variableCount: "Number of its variables, including inactive ones.",
    createdAt: "Time of creation.",
    updatedAt: "Time of the last change.",
    variables: `The group's variables. Present with includeVariables=true if there are at most ${LIMITS.pageLength}.`,
  },
  GroupProtection: {
    is: "Which jobs get a protected group's variables: jobs that name the group, on an allowed ref, after any required approval. A pipeline file cannot change the protection. If only one of branches and tags is null, no ref of that kind is allowed.",
    branches: "Branch patterns, as in a pipeline's `on`; null with tags null: every ref.",
    tags: "Tag patterns; null with branches null: every ref.",
    approval:
      "The minimum role to approve each job; null: no approval. Only a token with this role can change the protection.",
  },
  NewGroup: { is: "A group to create.", like: "Group" },
  GroupUpdate: { is: "Changes to a group.", like: "Group" },
};
