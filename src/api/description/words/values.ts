import { BUILD_STATES, LEASED, STATUSES } from "../../../protocol/build-states.ts";
import { PIPELINE_DEFAULTS } from "../../../protocol/pipeline.ts";
import type { Words } from "./schema-words.ts";

/** Schemas that are one value. */
export const VALUES: Words = {
  AgentCode: {
    is: "Why an agent does not have the build: offline; busy with another; draining; unresponsive, it was told of builds and did not ask for them; platform, canBuildIOS, canBuildAndroid, canBuildWeb or labels, which it lacks; gave-it-back, it released this build.",
  },
  AgentStatus: {
    is: "0 offline: not heard from for 90 seconds. 1 idle. 2 busy: it holds a lease on a build. 3 draining: it finishes and takes nothing new. Where several hold, offline comes before draining before busy.",
  },
  Branch: {
    is: "A branch by its short name, as main; or a whole ref, as refs/tags/v1 or refs/pull/7/head. The rules are those of git-check-ref-format.",
  },
  BuildReason: {
    is: "Why a build ended other than by its steps: agent-lost, every attempt lost its agent; timeout; environment, it could not be composed; requirements-unmet; commit-not-on-branch; pipeline-invalid, the file has mistakes; checkout-failed; agent-error, the agent's own machine or program; canceled, somebody asked for it.",
  },
  BuildStatus: {
    is: `${STATUSES.map((status) => `${status}: ${BUILD_STATES[status].meaning}.`).join(" ")} An ended build never changes.`,
  },
  CloneUrl: { is: "Address by which git fetches the repository: https, ssh or user@host:path. Without a password." },
  CommitSha: { is: "A whole commit id: 40 hexadecimal digits, or 64 in repositories of SHA-256." },
  ConfigPath: {
    is: `Path of the pipeline file from the repository's root, as ${PIPELINE_DEFAULTS.configPath} or ci/release.yml.`,
  },
  Definition: { is: "A pipeline file's text, YAML, of at most 262,144 characters." },
  Description: { is: "Free text for people." },
  EnvVariables: {
    is: "Values for this run alone, by name; numbers and booleans become text. They outrank every stored scope, are kept sealed and are never returned.",
  },
  FullName: { is: "Owner and name, with subgroups between them where the host has them: acme/shop, acme/apps/shop." },
  Id: { is: "UUID; ids sort by the time of their making." },
  Key: {
    is: "Name of an environment variable: letters, digits and _, not beginning with a digit. Upper case is usual. Not MILLRACE_..., which are the service's own.",
  },
  Label: { is: "What an agent offers and a build asks for, as xcode-26 or gpu. Exact case." },
  Labels: { is: "At most 50 labels." },
  Lease: { is: "Number of a lease; it only grows. A call with an older one changes nothing." },
  LocationHint: {
    is: "Part of the world in which the organization's agents mostly are: wnam and enam North America west and east, sam South America, weur and eeur Europe west and east, apac Asia, oc Oceania, afr Africa, me Middle East.",
  },
  Name: { is: "A name for people: one line, no control, invisible or text-turning characters." },
  NameFilter: { is: "A name, exactly." },
  OrgId: { is: "An organization's slug: a-z, 0-9 and -. Never used twice." },
  Origin: {
    is: "Where a value comes from: one of the four scopes; run, the envVariables of the trigger; service, Millrace itself.",
  },
  Platform: { is: "What an agent runs on: 0 other, 1 macOS, 2 Linux, 3 Windows." },
  QueryFlag: { is: "true or false." },
  Role: {
    is: "viewer reads; member also triggers, cancels and retries builds; maintainer also writes variables, groups, repositories, pipelines and agents; admin also makes tokens and reads the audit.",
  },
  Scope: { is: "Whose a variable is: the organization's, a group's, a repository's or a pipeline's." },
  StepStatus: { is: "Where a step stands: pending, running, succeeded, failed, skipped by its condition, canceled." },
  Timestamp: { is: "Time in UTC with milliseconds: 2026-11-02T09:00:00.000Z." },
  TokenKind: {
    is: "api: a person's or program's, with a role. registration: can register agents and do nothing else.",
  },
  Value: { is: "Any text without NUL, at most 48 KiB of UTF-8." },
  WaitCode: {
    is: `Where a build stands: no-agents are registered; no-capable-agent has what it needs; max-parallel, its pipeline has enough under way; dependency-away, its environment could not be read just now; all-busy; behind-others in the queue; next, an agent is about to take it; ${LEASED.join("; ")}; ended.`,
  },
};
