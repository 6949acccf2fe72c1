import { LIMITS } from "../../../protocol/limits.ts";
import type { Words } from "./schema-words.ts";

export const VARIABLES: Words = {
  Variable: {
    is: "A variable or secret of one scope.",
    fields: {
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
      lastUsedBy: "Id of that build, or of that job of a build of several; null if none did.",
      warnings:
        "Why the masking of this secret may be poor: short, under 4 characters; mask-text, similar to the mask itself; common-word, so that logs would contain many masks; json, whose single values are not masked when a program takes them out. Absent where there are none.",
    },
  },
  NewVariable: { is: "A variable or secret to create.", like: "Variable" },
  VariableUpdate: { is: "A change of a variable.", like: "Variable" },
  FileEncoding: { is: "What the value of a variable of type file is: its text, or its bytes in base64 (RFC 4648)." },
  FileName: {
    is: `Name of a file: no slash, no control characters, not . or .., at most ${LIMITS.fileNameBytes} bytes.`,
  },
  HandedFile: {
    is: "A variable of type file, as an agent gets it.",
    fields: {
      encoding: "text: the file is the text, in UTF-8. base64: the file is the bytes that it stands for.",
      text: "What is stored. Mask it if the variable is secret.",
      name: "Name of the file. Absent: the name of the variable.",
    },
  },
  VariableUse: {
    is: "The first build of a day (UTC) that received a variable.",
    fields: {
      buildId: "Id of the build, or of the job of a build of several.",
      agentId: "Id of the agent that ran the build.",
      at: "When the build was handed out.",
    },
  },
  Group: {
    is: "A named collection of variables that pipelines attach.",
    fields: {
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
  },
  GroupProtection: {
    is: "When the variables of a protected group leave: with a job that names the group, on a ref that is allowed, after an approval where one is asked. A pipeline file cannot change it. If one of branches and tags is null and the other is not, no ref of that kind is allowed.",
    fields: {
      branches: "Patterns of branches, as in a pipeline's `on`; null with tags null: every ref.",
      tags: "Patterns of tags; null with branches null: every ref.",
      approval:
        "The least role of whoever has to approve each job; null: nobody has to. Only a token with this role changes the protection.",
    },
  },
  NewGroup: { is: "A group to create.", like: "Group" },
  GroupUpdate: { is: "A change of a group.", like: "Group" },
};
