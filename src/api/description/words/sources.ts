import { PIPELINE_DEFAULTS as DEFAULTS } from "../../../protocol/pipeline.ts";
import type { Words } from "./schema-words.ts";

export const SOURCES: Words = {
  Repository: {
    is: "A source repository that builds are made of.",
    fields: {
      ...{ id: "Id of the repository.", orgId: "Its organization." },
      gitHostRepoId:
        "The number the git host knows it by, which stays when it is renamed: of GitHub `gh api repos/OWNER/NAME --jq .id`, of GitLab the project id. A host that has none: any number, one for each repository. Unique for each clone host of the organization.",
      fullName: "Owner and name; not unique. The list can be filtered by it.",
      cloneUrl: "Address git fetches from. The list can be filtered by it.",
      defaultBranch: "The branch that is meant where none is named; main when left out.",
      defaultPipelineId: `The pipeline that is built where none is named: the first one made for it. null: its ${DEFAULTS.configPath} without a pipeline.`,
      isActive: "Builds may be triggered.",
      hasCredential: "A credential for its clone is stored.",
      ...{ createdAt: "When it was connected.", updatedAt: "When it was last changed." },
    },
  },
  NewRepository: { is: "A repository to connect.", like: "Repository" },
  RepositoryUpdate: {
    ...{ is: "What to change of a repository.", like: "Repository" },
  },
  Credential: {
    is: "What is told of a clone credential: never its value.",
    fields: {
      kind: "token: a password or access token, for https. ssh-key: a private key, for ssh.",
      username: "User name that goes with a token; null where the host needs none.",
      updatedAt: "When it was set.",
    },
  },
  NewCredential: {
    ...{ is: "A credential to store; it replaces the one before.", like: "Credential" },
    fields: { value: "The token, or the private key's whole text. Kept sealed and never returned." },
  },
  Pipeline: {
    is: "What is run for a repository, and by which agents.",
    fields: {
      ...{ id: "Id of the pipeline.", orgId: "Its organization.", repoId: "The repository it belongs to." },
      name: "Its name, unique in its repository.",
      configPath: `Path of the pipeline file in the commit; ${DEFAULTS.configPath} when left out.`,
      definition: "The pipeline file itself; it outranks configPath. null: the file of the commit.",
      groupIds: "Groups whose variables its builds get, in order: a later one wins.",
      requires: "What an agent must have to be given its builds.",
      timeoutSeconds: `Seconds a build may take: 1 to 86,400; ${DEFAULTS.timeoutSeconds.toLocaleString("en-US")} when left out.`,
      maxParallel: "Builds of it that may be under way at once, 1 to 10,000; null: as many as there are agents.",
      maxAttempts: `How often a build is started, where agents are lost: 1 to 3; ${DEFAULTS.maxAttempts} when left out.`,
      isActive: "Builds of it may be triggered.",
      ...{ createdAt: "When it was made.", updatedAt: "When it was last changed." },
    },
  },
  NewPipeline: { is: "A pipeline to make.", like: "Pipeline" },
  PipelineUpdate: { is: "What to change of a pipeline.", like: "Pipeline" },
  Requires: {
    is: "What an agent must have. A field left out or null: no matter.",
    fields: {
      platform: "Its platform, by name.",
      ...{ ios: "true: it can build for iOS.", android: "true: it can build for Android." },
      ...{ web: "true: it can build for the web.", labels: "Labels, all of which it must have." },
    },
  },
  PipelineCheck: {
    is: "A pipeline file to check.",
    fields: {
      definition: "The file's text.",
      repoId: "With it, variables that nobody set are found too: those of this repository are known.",
      pipelineId: "The same for a pipeline.",
    },
  },
  CheckedPipeline: {
    is: "What is wrong with a pipeline file.",
    fields: {
      ...{ isValid: "Nothing is.", mistakes: "All mistakes, in the order of the file." },
      hints: "What is no mistake and may surprise: with hints alone the file is valid.",
      ...{
        "hints[].line": "Line, from 1.",
        "hints[].column": "Column, from 1.",
        "hints[].message": "What may surprise.",
      },
      ...{ "mistakes[].line": "Line, from 1.", "mistakes[].column": "Column, from 1." },
      ...{ "mistakes[].message": "What is wrong.", "mistakes[].suggestion": "What was probably meant, where known." },
    },
  },
  EnvironmentEntry: {
    is: "A name that a build would find in its environment.",
    fields: {
      ...{ key: "The name.", scope: "Where its value comes from.", isSecret: "Its value is masked and not told here." },
      value: "The value; absent where it is secret.",
      variableId: "The variable; null where the service sets it.",
      groupId: "The group it is of; null where it is of none.",
      version: "Version of the variable; null where the service sets it.",
      overrides: "What the winner overrides, the nearest first.",
      ...{ "overrides[].scope": "Whose it is.", "overrides[].groupId": "The group; null where it is of none." },
      "overrides[].variableId": "The variable.",
    },
  },
};
