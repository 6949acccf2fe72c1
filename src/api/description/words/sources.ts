import { LIMITS, withCommas } from "../../../protocol/limits.ts";
import { PIPELINE_DEFAULTS } from "../../../protocol/pipeline.ts";
import type { Words } from "./schema-words.ts";

export const SOURCES: Words = {
  Repository: {
    is: "A source repository.",
    fields: {
      id: "Id of the repository.",
      orgId: "Id of the organization.",
      gitHostRepoId:
        "The number of the repository on its git host. It stays the same when the repository is renamed. GitHub: `gh api repos/OWNER/NAME --jq .id`. GitLab: the project id. A host without such numbers: any number. Unique for each clone host in the organization.",
      fullName: "Owner and name. Not unique. The list has a filter for it.",
      cloneUrl: "Address that git fetches from. The list has a filter for it.",
      defaultBranch: "The branch of a build whose trigger names none. Default: main.",
      defaultPipelineId: `The pipeline of a build whose trigger names none: at first the first pipeline of the repository. null: builds use the repository's ${PIPELINE_DEFAULTS.configPath} without a pipeline.`,
      connectionId:
        "The git host that tells of its pushes and is told of its builds; null where none does. Must be one of the organization; null removes the hook that the service registered.",
      isActive: "true: builds may be triggered.",
      hasCredential: "true: a clone credential is stored.",
      hasHook: "true: the service registered a hook at the git host. false: there is none, or people made it.",
      forks:
        "Whether pull requests of forks are built: off; approval, each commit once a member has approved it; members, without approval where the git host says that the author may write to the repository, or is of its organization. Their builds are untrusted in any case. Default: off.",
      untrustedAuthors: `Logins at the git host whose pushes and pull requests are untrusted, whoever opens, labels or tags what they pushed: programs such as renovate[bot]. At most ${LIMITS.untrustedAuthors}.`,
      createdAt: "Time of creation.",
      updatedAt: "Time of the last change.",
    },
  },
  NewRepository: { is: "A repository to connect.", like: "Repository" },
  RepositoryUpdate: { is: "A change of a repository.", like: "Repository" },
  Credential: {
    is: "A clone credential, without its value.",
    fields: {
      kind: "token: a password or access token, for https. ssh-key: a private key, for ssh.",
      username: "User name for a token; null where the host needs none.",
      updatedAt: "When the credential was stored.",
    },
  },
  NewCredential: {
    is: "A credential to store. It replaces the stored one.",
    like: "Credential",
    fields: { value: "The token, or the complete text of the private key. Stored sealed and never returned." },
  },
  Pipeline: {
    is: "How a repository is built, and what an agent must have to build it.",
    fields: {
      id: "Id of the pipeline.",
      orgId: "Id of the organization.",
      repoId: "Id of the repository.",
      name: "Name of the pipeline, unique in its repository.",
      configPath: `Path of the pipeline file in the commit. Default: ${PIPELINE_DEFAULTS.configPath}.`,
      definition: "The pipeline file itself. It takes precedence over configPath. null: the file in the commit.",
      groupIds: "Groups whose variables its builds receive, in order. A later group overrides an earlier one.",
      requires: "What an agent must have to run its builds.",
      timeoutSeconds: `Maximum duration of a build, in seconds: 1 to ${withCommas(LIMITS.timeoutSeconds)}. Default: ${withCommas(PIPELINE_DEFAULTS.timeoutSeconds)}.`,
      maxParallel: `Maximum number of its builds that agents hold at the same time: 1 to ${withCommas(LIMITS.parallelBuilds)}; null for no maximum.`,
      maxAttempts: `Maximum number of times that a build is started if its agents are lost: 1 to ${LIMITS.attempts}. Default: ${PIPELINE_DEFAULTS.maxAttempts}.`,
      on: "Which events at the git host build it, in place of what its file says; null: as the file says.",
      supersede:
        "Whose older builds end for a newer head: file, as the file says; refs, of every ref but the default branch, tags and merge groups; all; none.",
      triggers: "What builds it as things are. Read-only.",
      isActive: "true: builds of the pipeline may be triggered.",
      createdAt: "Time of creation.",
      updatedAt: "Time of the last change.",
    },
  },
  PipelineOn: {
    is: "Events that build a pipeline, as `on` in its file. One that is left out does not. Patterns have `*`, `**` and `?`; one with `!` takes away; the last that matches decides.",
    fields: {
      push: "Pushes of branches: true, or conditions.",
      tag: "Pushes of tags: true, or conditions.",
      pull: "Pull and merge requests of the repository itself: true, or conditions.",
      "merge-group": "true: what a merge queue tries.",
    },
  },
  PushConditions: {
    is: "Which pushes of branches. All conditions must hold.",
    fields: {
      branches: "Patterns of branches. Left out: every branch.",
      paths: "Patterns of files, one of which must have changed. Left out: any.",
    },
  },
  TagConditions: { is: "Which tags.", fields: { names: "Patterns of tags. Left out: every tag." } },
  PullConditions: {
    is: "Which pull requests. All conditions must hold.",
    fields: {
      base: "Patterns of the branches that they are to be merged into. Left out: every branch.",
      paths: "Patterns of files, one of which must have changed. Left out: any.",
      drafts: "false: no drafts. Left out: true.",
      labels: "Labels, one of which it must have. Left out: any.",
    },
  },
  PipelineTriggers: {
    is: "What builds a pipeline.",
    fields: {
      source:
        "Where it comes from: record, the pipeline's own `on`; file, its file on the default branch or its definition; default, if neither says it.",
      builds: "The events, for people.",
      supersede: "Whose older builds end for a newer head.",
      commitSha: "The commit of the file that holds; null if no file was read.",
      readAt: "When that file or definition was read; null if none was.",
      mistake: "The first mistake of a newer file, which was left out for it; null if there is none.",
    },
  },
  NewPipeline: { is: "A pipeline to create.", like: "Pipeline" },
  PipelineUpdate: { is: "A change of a pipeline.", like: "Pipeline" },
  Badge: {
    is: "The address of a pipeline's badge. Whoever has it sees the pipeline's name and how its builds end.",
    fields: {
      url: "Address of the image. `?branch=` names another branch than the default one.",
      markdown: "The image as text for a Markdown file.",
    },
  },
  Requires: {
    is: "What an agent must have. A field that is null or left out requires nothing.",
    fields: {
      platform: "Name of the platform.",
      ios: "true: the agent can build for iOS.",
      android: "true: the agent can build for Android.",
      web: "true: the agent can build for the web.",
      labels: "Labels that the agent must have, all of them.",
      xcode: "A version of Xcode that the agent's machine must have, or its beginning.",
    },
  },
  PipelineCheck: {
    is: "A pipeline file to check.",
    fields: {
      definition: "Text of the file.",
      repoId: "Id of a repository: the check also finds variables that do not exist for it.",
      pipelineId: "Id of a pipeline: the check also finds variables that do not exist for it.",
      includes: "The files that it includes, directly or not. Those that are not sent are not checked: a hint says so.",
    },
  },
  CheckedPipeline: {
    is: "The result of the check of a pipeline file.",
    fields: {
      isValid: "true: the file has no mistakes.",
      mistakes: "All mistakes, in the order of the file.",
      "mistakes[].line": "Line, from 1.",
      "mistakes[].column": "Column, from 1.",
      "mistakes[].message": "What is wrong.",
      "mistakes[].suggestion": "The likely intention, if there is one.",
      "mistakes[].file": "Path of the included file that has it; absent for the file itself.",
      hints: "Parts of the file that are valid but may surprise. A file with hints alone is valid.",
      "hints[].line": "Line, from 1.",
      "hints[].column": "Column, from 1.",
      "hints[].message": "What may surprise.",
      "hints[].file": "Path of the included file that has it; absent for the file itself.",
      triggers: "When the file would be built; null for a file with mistakes.",
      jobs: "The jobs that a build would have; null for a file without jobs, and for one with mistakes.",
    },
  },
  CheckedTriggers: {
    is: "When a pipeline file would be built.",
    fields: {
      builds: "The events that build it, for people.",
      supersede: "Whose older builds end for a newer head.",
      schedules: "Its schedules.",
      "schedules[].name": "Name of the schedule.",
      "schedules[].next": "Its next five times.",
    },
  },
  EnvironmentEntry: {
    is: "One variable in the environment of a build.",
    fields: {
      key: "Name of the variable.",
      scope: "Where the value comes from.",
      isSecret: "true: the value is masked, and absent here.",
      value: "The value. Absent for a secret.",
      isFile: "true: a build gets a file with this value, and its path in the variable. Absent for other variables.",
      fileEncoding: "Whether the value of a file is its text, or its bytes in base64. Absent for other variables.",
      fileName: "Name of the file. Absent for other variables.",
      variableId: "Id of the variable; null if the service sets it.",
      groupId: "Id of its group; null if it belongs to none.",
      version: "Version of the variable; null if the service sets it.",
      overrides: "The variables that this one overrides, the closest scope first.",
      "overrides[].scope": "Scope of the overridden variable.",
      "overrides[].groupId": "Id of its group; null if it belongs to none.",
      "overrides[].variableId": "Id of the overridden variable.",
    },
  },
};
