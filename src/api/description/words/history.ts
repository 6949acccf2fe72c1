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
  PipelineHistory: {
    is: "How the builds of a pipeline went, of the repository's default branch and of tags.",
    fields: {
      pipelineId: "Id of the pipeline.",
      name: "Name of the pipeline.",
      repoId: "Id of its repository.",
      repository: "Full name of its repository.",
      isRed: "true: the last build that was not canceled failed.",
      builds: "The last ones, 30 at most, the newest first.",
      week: "Seven days, today included.",
      weekBefore: "The seven days before.",
    },
  },
};
