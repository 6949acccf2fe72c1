import { PIPELINE_DEFAULTS } from "../../../protocol/pipeline.ts";
import type { Words } from "./schema-words.ts";

export const BUILDS: Words = {
  Build: {
    is: "One run of a pipeline.",
    fields: {
      ...{ id: "Id of the build.", orgId: "Its organization.", repoId: "The repository it is made of." },
      number: "Counts the repository's builds from 1.",
      pipelineId: `Its pipeline; null where the repository's ${PIPELINE_DEFAULTS.configPath} is built without one.`,
      branch: "Branch or ref it was asked for.",
      commitSha: "The commit that is built; null until somebody said or an agent found out which.",
      status: "Where it stands.",
      trigger: "What made it: api, a call of the API or the dashboard; retry, a build that is repeated.",
      priority: "-100 to 100: a higher one is taken first.",
      agentId: "The agent that has it, or had it last; null while it waits.",
      attempt: "How often an agent started it; each has a log of its own. 0 before the first.",
      exitCode: "Exit code of the step that decided it; null where there is none.",
      reason: "Why it ended other than by its steps; null otherwise.",
      message: "What a person should know about how it ended; null where there is nothing to say.",
      leak: "The service masked a secret that the agent had let through.",
      environment: "The names it was given, without values; null until it is handed out.",
      steps: "Its steps in order, as its agent reported them last; empty before that.",
      summary: "Markdown that its steps wrote for people; null where they wrote none.",
      retryOf: "The build that this one repeats; null where it is none's repeat.",
      createdBy: "Who asked for it; null where it was made before that was noted.",
      webUrl: "Address of the build's page, on the host that was asked.",
      ...{ queuedAt: "When it was asked for.", startedAt: "When an agent first started it; null until then." },
      finishedAt: "When it ended; null until then.",
    },
  },
  Creator: {
    is: "Who asked for a build.",
    fields: {
      kind: "What it is: token. Others may come.",
      ...{ id: "Id of the token, which may be revoked since.", name: "The name it had then." },
    },
  },
  BuildTrigger: {
    is: "What to build: a pipeline, or a repository with its default pipeline.",
    fields: {
      repoId: "The repository. May be left out where pipelineId is given.",
      pipelineId: "The pipeline. Left out or null: the repository's default one.",
      branch: "Branch, or refs/tags/... or refs/pull/..., to build.",
      commitSha: "The commit to build; it must be on the branch. Left out or null: the branch's newest when it runs.",
      envVariables: "Values for this run alone, by name.",
      secretKeys: "Names in envVariables whose values are masked as secrets are.",
      priority: "-100 to 100, 0 when left out: a higher one is taken first.",
      labels: "Labels an agent must have besides those the pipeline requires.",
    },
  },
  RepositoryTrigger: { is: "What to build of the repository in the path.", like: "BuildTrigger" },
  EnvironmentKey: {
    is: "A name the build was given.",
    fields: {
      ...{ key: "The name.", scope: "Where its value came from.", isSecret: "Its value is masked." },
      version: "Version of the variable that was used; null where it came from the run or the service.",
    },
  },
  Step: {
    is: "One step as its agent reported it.",
    fields: {
      ...{ id: "The id the file gives it; null where it gives none.", name: "Its name for people." },
      ...{ status: "Where it stands.", exitCode: "Its exit code; null while it has none." },
      ...{ startedAt: "When it began; null until then.", finishedAt: "When it ended; null until then." },
      logOffset: "Where its part of the stored log begins, in bytes; null where it wrote none.",
    },
  },
  Explanation: {
    is: "Why a build waits.",
    fields: {
      ...{ buildId: "The build.", status: "Where it stands.", code: "The same as one word for programs." },
      words: "The same as a sentence for people.",
      ahead: "Builds before it in the queue; null where it does not wait.",
      requires: "What an agent must have; left out once it does not wait.",
      groups: "Agents that the same keeps from it, together: the nearest first, 20 at most.",
      ...{ "groups[].codes": "What stands against them all.", "groups[].agents": "How many they are." },
      ...{ "groups[].online": "How many of them are online.", "groups[].words": "The same as a sentence for people." },
      agents: "Why each agent does not have it, the likeliest first.",
      ...{ "agents[].agentId": "The agent.", "agents[].name": "Its name." },
      "agents[].codes": "All that stands against it; empty where it could take the build now.",
      "agents[].words": "The same as a sentence for people.",
    },
  },
};
