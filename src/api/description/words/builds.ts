import { LIMITS } from "../../../protocol/limits.ts";
import { PIPELINE_DEFAULTS } from "../../../protocol/pipeline.ts";
import type { Words } from "./schema-words.ts";

const PRIORITY = `-${LIMITS.priority} to ${LIMITS.priority}`;
const OLD_MESSAGE = "The old name of message. It is removed with the next breaking change.";

export const BUILDS: Words = {
  Build: {
    is: "One run of a pipeline.",
    fields: {
      id: "Id of the build.",
      orgId: "Id of the organization.",
      repoId: "Id of the repository.",
      number: "Number of the build in its repository, from 1.",
      pipelineId: `Id of the pipeline; null for a build of the repository's ${PIPELINE_DEFAULTS.configPath} without a pipeline.`,
      branch: "The branch or ref to build.",
      ref: "The full name of the branch or ref: refs/heads/main.",
      event: "What made the build: api, a request; the others, what happened at the git host.",
      commitSha: "The commit of the build; null until the trigger or an agent names it.",
      status: "State of the build.",
      trigger: "How the build was created: api, by the API or the dashboard; retry, as a repeat of another build.",
      trust:
        "untrusted: the code is of a fork, or of an author whom the repository lists. Such a build gets no secret, and only agents with the label untrusted run it.",
      priority: `${PRIORITY}. Builds with a higher priority run first.`,
      agentId: "The agent that holds the build, or held it last; null while it waits in the queue.",
      attempt: "Number of times that an agent has started the build. Each attempt has its own log. 0 before the first.",
      exitCode: "Exit code of the decisive step; null if there is none.",
      reason: "Why the build ended, if the cause was not a step; null otherwise.",
      message: "An explanation of the result for people; null if there is none.",
      leak: "true: the service masked a secret that the agent had not masked.",
      environment:
        "Names of the variables that the build received, without values; null until it is handed out, and in lists.",
      steps: "The steps in order, as the agent last reported them. Empty before that, and in lists.",
      summary: "Markdown that the steps wrote for people; null if they wrote none, and in lists.",
      retryOf: "Id of the build that this build repeats; null if it is not a repeat.",
      createdBy: "The token that created the build; null for a build that was created before this was recorded.",
      tag: "The tag; null for a build of a branch.",
      pull: "The pull or merge request that the build is for; null for others.",
      base: "The commit from which changes count, as the agent found it: where a pull request left its branch, or the last commit of the branch that was built well; null until then, and in lists.",
      subject:
        "The first line of the commit's message, or the title of the pull request where the git host told no commit; null where it told neither.",
      author:
        "The commit's author, or the pull request's where the git host told no commit; null where it told neither.",
      schedule: "Name of the schedule that made the build; null for others, and in lists.",
      supersededBy:
        "Id of the build of a newer commit for which this build was canceled; null for others, and in lists.",
      jobs: "The jobs of a build of several, each after what it needs; null for a build of one job, and in lists.",
      approval:
        "The approval that the commit of a fork needs, and who gave it; null for other builds, and in lists of those that have ended.",
      waitsFor: "The gates that it waits for, or the approval of its commit. Empty otherwise.",
      jobCounts:
        "How many of its jobs are in which state; null for a build of one job, and in lists for those that ended under a release before 0.10.0.",
      failedLine:
        "The line of the log that says why the build failed, masked; null where none says it, and for builds that did not fail.",
      tests: "How many tests failed and passed, by the reports of its jobs; null where no job reported any.",
      webUrl: "URL of the build's page, on the host of the request.",
      queuedAt: "When the build was created.",
      startedAt: "When an agent first started the build; null until then.",
      finishedAt: "When the build ended; null until then.",
    },
  },
  JobCounts: {
    is: "How many jobs of a build of several are in which state.",
    fields: {
      total: "All jobs.",
      waiting: "Those that wait: for others, for people or for an agent.",
      running: "Those that an agent has.",
      succeeded: "Those that succeeded.",
      failed: "Those that failed, also those that may.",
      stopped: "Those that ended without a result: canceled, skipped or dropped.",
    },
  },
  PullRequest: {
    is: "A pull or merge request. Lists of builds that have ended know only its number and its branch.",
    fields: {
      number: "Its number at the git host.",
      base: "The branch into which it would be merged; null in lists of builds that have ended.",
      branch: "The branch that it comes from.",
      title: "Its title; null in lists of builds that have ended.",
      author: "Who opened it; null where the git host did not tell it, and in lists of builds that have ended.",
    },
  },
  LogTime: {
    is: "When a part of a log was stored.",
    fields: { offset: "The byte of the log at which the part begins.", at: "When it was stored." },
  },
  Creator: {
    is: "The creator of a build.",
    fields: {
      kind: "Kind of the creator: token. New kinds may be added.",
      id: "Id of the token. The token may be revoked by now.",
      name: "Name of the token at that time.",
    },
  },
  BuildTrigger: {
    is: "What to build: a pipeline, or a repository with its default pipeline.",
    fields: {
      repoId: "Id of the repository. Optional if pipelineId is given.",
      pipelineId: "Id of the pipeline. Left out or null: the default pipeline of the repository.",
      branch:
        "The branch to build, or a ref such as refs/tags/... or refs/pull/... Left out or null: the default branch.",
      commitSha:
        "The commit to build. It must be on the branch. Left out or null: the latest commit when the build runs.",
      envVariables: "Values for this build only, by name.",
      secretKeys: "Names in envVariables whose values are masked as secrets are.",
      priority: `${PRIORITY}. Builds with a higher priority run first. Default: 0.`,
      labels: "Labels that an agent must have, in addition to those that the pipeline requires.",
    },
  },
  RepositoryTrigger: { is: "What to build of the repository.", like: "BuildTrigger" },
  EnvironmentKey: {
    is: "One variable that a build received.",
    fields: {
      key: "Name of the variable.",
      scope: "Where the value came from.",
      isSecret: "true: the value is masked.",
      version: "Version of the variable; null if the value came from the build's envVariables or from the service.",
      isFile: "true: the variable had the path of a file. Absent for other variables.",
    },
  },
  Step: {
    is: "One step, as the agent reported it.",
    fields: {
      id: "Id of the step in the pipeline file; null if the file gives none.",
      name: "Name of the step, for people.",
      status: "State of the step.",
      exitCode: "Exit code of the step; null until it has one.",
      startedAt: "When the step started; null until then.",
      finishedAt: "When the step ended; null until then.",
      logOffset: "Byte of the stored log at which the step's part starts; null if the step wrote nothing.",
      tries: "How often the step was begun; left out where it was once.",
    },
  },
  Explanation: {
    is: "Why a build waits.",
    fields: {
      buildId: "Id of the build.",
      status: "State of the build.",
      code: "The reason as a code, for programs.",
      message: "The reason as a sentence, for people.",
      words: OLD_MESSAGE,
      ahead: "Number of builds before it in the queue; null if the build is not in the queue.",
      requires: "What an agent must have to run the build. Absent once the build has left the queue.",
      groups: "Agents that cannot take the build for the same reasons, grouped. The closest match first, at most 20.",
      "groups[].codes": "The reasons that all agents of the group share.",
      "groups[].agents": "Number of agents in the group.",
      "groups[].online": "Number of them that are online.",
      "groups[].message": "The reasons as a sentence, for people.",
      "groups[].words": OLD_MESSAGE,
      agents: "Why each agent does not have the build. The closest match first.",
      "agents[].agentId": "Id of the agent.",
      "agents[].name": "Name of the agent.",
      "agents[].codes": "All reasons. Empty if the agent could take the build now.",
      "agents[].message": "The reasons as a sentence, for people.",
      "agents[].words": OLD_MESSAGE,
    },
  },
};
