import type { Words } from "./schema-words.ts";

export const VARIABLES: Words = {
  Variable: {
    is: "A variable or secret of one scope.",
    fields: {
      ...{ id: "Id of the variable.", orgId: "Its organization." },
      key: "The name builds find it by; unique in its scope's owner.",
      value: "The value. Absent in answers where isSecret: a secret's value is never told.",
      isSecret: "Kept sealed, masked in logs, never returned.",
      scope: "Whose it is, which decides the id it needs.",
      repoId: "The repository it is of; null in every other scope.",
      groupId: "The group it is of; null in every other scope.",
      pipelineId: "The pipeline it is of; null in every other scope.",
      description: "What it is for; null where nobody said.",
      isActive: "Builds are given it.",
      allowOverride: "envVariables of a run may replace it.",
      version: "Counts its changes, from 1.",
      ...{ createdAt: "When it was made.", updatedAt: "When it was last changed." },
      lastUsedAt: "When a build was last given it; null where none was.",
      lastUsedBy: "The build that was given it last; null where none was.",
      warnings:
        "Why a secret will hide badly: short, under 4 characters; mask-text, it is like the mask itself; common-word, logs would be full of masks. Absent where there are none.",
    },
  },
  NewVariable: { is: "A variable or secret to create.", like: "Variable" },
  VariableUpdate: { is: "What to change of a variable.", like: "Variable" },
  VariableUse: {
    is: "One hand-out of a variable.",
    fields: { buildId: "The build that was given it.", agentId: "The agent that ran the build.", at: "When." },
  },
  Group: {
    is: "A named collection of variables, which pipelines attach.",
    fields: {
      ...{ id: "Id of the group.", orgId: "Its organization.", name: "Its name, unique in the organization." },
      description: "What it is for; null where nobody said.",
      variableCount: "How many variables it has, inactive ones included.",
      ...{ createdAt: "When it was made.", updatedAt: "When it was last changed." },
      variables: "Its variables, where includeVariables=true asked for them.",
    },
  },
  NewGroup: { is: "A group to make.", like: "Group" },
  GroupUpdate: { is: "What to change of a group.", like: "Group" },
};
