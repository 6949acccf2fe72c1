import { BUILD_STATES, LEASED, STATUSES } from "../../../protocol/build-states.ts";
import { byteSize, LIMITS, PERIODS, withCommas } from "../../../protocol/limits.ts";
import { PIPELINE_DEFAULTS } from "../../../protocol/pipeline.ts";
import type { Words } from "../documentation.ts";

/** Schemas of single values, and of variables. */
export const VALUE_WORDS: Words = {
  AgentCode: {
    is: "Why an agent does not have the build. offline. busy: it holds another build. draining. unresponsive: it was offered builds and did not poll. platform, canBuildIOS, canBuildAndroid, canBuildWeb, labels, xcode: the agent does not meet this requirement. gave-it-back: the agent released this build. too-old: its program cannot run planned jobs, or does not know a word of its file.",
  },
  AgentStatus: {
    is: `0 offline: no call within ${PERIODS.onlineSeconds} seconds. 1 idle. 2 busy: the agent holds a lease on a build. 3 draining: the agent finishes its build and receives no other. If several apply, the status is offline, then draining, then busy.`,
  },
  Branch: {
    is: "The short name of a branch, such as main, or a full ref, such as refs/tags/v1 or refs/pull/7/head. The rules are those of git-check-ref-format.",
  },
  Forks: {
    is: "Whether pull requests of forks are built. off: they are not. approval: once a member has approved the commit. members: without approval where the author is a member.",
  },
  BuildReason: {
    is: "Why a build ended, if the cause was not a step. agent-lost: the agent of every attempt was lost. timeout. environment: the environment could not be composed. requirements-unmet. commit-not-on-branch. pipeline-invalid: the pipeline file has mistakes. checkout-failed. agent-error: the agent's program or machine failed. plan-mismatch: the commit has another file than the one that the jobs were planned from. queue-full: the queue had no room for the jobs. output-refused: an output has a secret in it, or the outputs are too large. artifact-failed: what the job leaves could not be kept, or what it gets not be fetched. gate-closed: a person rejected it, or nobody decided in time. canceled: a person or program canceled the build. fail-fast: another job failed. superseded: the build of a newer commit ended it. skipped: nothing that the pipeline wants had changed.",
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
    is: "The git host's own id of a delivery; ID~MILLISECONDS where a person took it once more.",
  },
  Description: { is: "Free text for people." },
  EnvVariables: {
    is: "Values for this build only, by name. Numbers and booleans become text. They override every stored scope, are stored sealed and are never returned.",
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
  Lease: { is: "Number of a lease. Each new lease has a higher number. A call with an old lease changes nothing." },
  LocationHint: {
    is: "Where most agents of the organization are. wnam: western North America. enam: eastern North America. sam: South America. weur: western Europe. eeur: eastern Europe. apac: Asia and Pacific. oc: Oceania. afr: Africa. me: Middle East.",
  },
  Name: {
    is: "A name for people: one line, without control characters, invisible characters or bidirectional controls.",
  },
  NameFilter: { is: "The exact name." },
  OrgId: { is: "Slug of an organization: a-z, 0-9 and -. A slug is never used twice." },
  Origin: {
    is: "Where a value comes from: one of the four scopes; run, the envVariables of the build; or service, Millrace itself.",
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
    is: "api: a token of a person or program, with a role. registration: a token that can only register agents.",
  },
  Value: { is: `Any text without NUL, at most ${byteSize(LIMITS.valueBytes)} of UTF-8.` },
  WaitCode: {
    is: `Why the build waits, or its state. no-agents: no agent is registered. no-capable-agent: no agent meets its requirements. needs: a job waits for others. gate: a job waits for approval. max-parallel: agents hold as many builds of its pipeline, or jobs of its matrix, as it allows. group: others hold its concurrency group. dependency-away: its environment could not be read a moment ago. all-busy: every agent that meets its requirements has another build. behind-others: other builds are before it in the queue. next: an agent is about to take it. ${LEASED.join(", ")}: its state. ended.`,
  },
  Variable: {
    is: "A variable or secret of one scope.",
    id: "Id of the variable.",
    orgId: "Id of the organization.",
    key: "Name of the environment variable. Unique for each owner of a scope.",
    value: "The value. Absent for a secret: no answer contains a secret's value.",
    isSecret: "true: the value is stored sealed, masked in logs and never returned.",
    isFile: "true: builds get a file with the value, and its path in the variable. Absent for other variables.",
    fileEncoding:
      "What the value of a file is: text, or base64 (RFC 4648) of its bytes. Default: text. Absent for other variables.",
    fileName: `Name of the file, without a slash, at most ${LIMITS.fileNameBytes} bytes; null: that of the variable. Absent for other variables.`,
    scope: "The kind of the owner. It decides which id is required.",
    repoId: "The repository that owns the variable; null in every other scope.",
    groupId: "The group that owns the variable; null in every other scope.",
    pipelineId: "The pipeline that owns the variable; null in every other scope.",
    description: "The purpose of the variable; null where none was given.",
    isActive: "true: builds receive the variable.",
    allowOverride: "true: the envVariables of a build may override the variable.",
    version: "Version of the variable, from 1. Each change increments it.",
    createdAt: "Time of creation.",
    updatedAt: "Time of the last change.",
    lastUsedAt:
      "The last day (UTC) on which builds received the variable, as the time when the first of them did; null if none did.",
    lastUsedBy: "Id of that job, which for the first job of a build is the build's; null if none did.",
    warnings:
      "Why the masking of this secret may be poor: short, under 4 characters; mask-text, similar to the mask itself; common-word, so that logs would contain many masks; json, whose single values are not masked when a program takes them out. Absent where there are none.",
  },
  NewVariable: { is: "A variable or secret to create.", like: "Variable" },
  VariableUpdate: { is: "A change of a variable.", like: "Variable" },
  FileEncoding: { is: "What the value of a variable of type file is: its text, or its bytes in base64 (RFC 4648)." },
  FileName: {
    is: `Name of a file: no slash, no control characters, not . or .., at most ${LIMITS.fileNameBytes} bytes.`,
  },
  HandedFile: {
    is: "A variable of type file, as an agent gets it.",
    encoding: "text: the file is the text, in UTF-8. base64: the file is the bytes that it stands for.",
    text: "What is stored. Mask it if the variable is secret.",
    name: "Name of the file. Absent: the name of the variable.",
  },
  VariableUse: {
    is: "The first build of a day (UTC) that received a variable.",
    buildId: "Id of the job; for the first job of a build, the build's.",
    agentId: "Id of the agent that ran the build.",
    at: "When the build was handed out.",
  },
  Group: {
    is: "A named collection of variables that pipelines attach.",
    id: "Id of the group.",
    orgId: "Id of the organization.",
    name: "Name of the group, unique in the organization.",
    description: "The purpose of the group; null where none was given.",
    protection: "When its variables leave; null: with every job of the pipelines that attach it.",
    variableCount: "Number of its variables, including inactive ones.",
    createdAt: "Time of creation.",
    updatedAt: "Time of the last change.",
    variables: "The variables of the group. Present with includeVariables=true.",
  },
  GroupProtection: {
    is: "When the variables of a protected group leave: with a job that names the group, on a ref that is allowed, after an approval where one is asked. A pipeline file cannot change it. If one of branches and tags is null and the other is not, no ref of that kind is allowed.",
    branches: "Patterns of branches, as in a pipeline's `on`; null with tags null: every ref.",
    tags: "Patterns of tags; null with branches null: every ref.",
    approval:
      "The least role of whoever has to approve each job; null: nobody has to. Only a token with this role changes the protection.",
  },
  NewGroup: { is: "A group to create.", like: "Group" },
  GroupUpdate: { is: "A change of a group.", like: "Group" },
};
