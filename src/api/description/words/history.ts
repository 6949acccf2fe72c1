import type { Words } from "./schema-words.ts";

/** The schemas of what builds of a pipeline were like lately. */
export const HISTORY: Words = {
  BuildOfHistory: {
    is: "A build that has ended.",
    fields: {
      id: "Id of the build.",
      number: "Its number within its repository.",
      branch: "Its branch; the full name of a tag.",
      tag: "The tag that was built; null for a branch.",
      status: "How it ended.",
      isFlaky: "true: tests of it failed and then passed.",
      subject: "The first line of the commit's message; null where nobody told it.",
      author: "Who wrote the commit; null where nobody told it.",
      queuedAt: "When it was created.",
      startedAt: "When an agent began it; null if none did.",
      finishedAt: "When it ended.",
    },
  },
  WeekOfBuilds: {
    is: "The builds of seven days.",
    fields: {
      succeeded: "Those that succeeded.",
      failed: "Those that failed.",
      canceled: "Those that were canceled.",
      flaky: "Those that succeeded and had flaky tests.",
      tookSeconds:
        "What those took that succeeded or failed: half of them at most `p50` seconds, nine in ten `p90`, within 5 %; null without any.",
      waitedSeconds: "How long builds waited for an agent, in the same way; null where none began.",
    },
  },
  FailingSince: {
    is: "Since when the builds of a branch fail. Canceled and untrusted builds do not count, and a retry counts for the build that it repeats.",
    fields: {
      buildId: "Id of the first build that failed after the last one that succeeded. It is one of `builds`.",
      builds: "How many builds failed since. A build and its retries are one.",
      commits: "How many commits they are of; null where the commit of one of them is not known.",
      isCertain:
        "false: an earlier build may have failed first, because none of `builds` succeeded just before, or one between was canceled or untrusted.",
      hasPassed: "true: the same commit succeeded before, so that something else than the commit broke the build.",
    },
  },
  PipelineHistory: {
    is: "How the builds of a pipeline went, of the repository's default branch and of tags.",
    fields: {
      pipelineId: "Id of the pipeline.",
      name: "Name of the pipeline.",
      repoId: "Id of its repository.",
      repository: "Full name of its repository.",
      isRed:
        "true: the newest commit of the default branch failed, of those with a build that was neither canceled nor untrusted. A retry counts for the commit that it repeats; a tag does not count.",
      failingSince: "Since when the default branch fails; null where it does not.",
      builds: "The last ones, 30 at most, the newest first.",
      week: "Seven days, today included.",
      weekBefore: "The seven days before.",
    },
  },
};
