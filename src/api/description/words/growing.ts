/**
 * Enums to which values may be added in answers, as schemas or as fields of one: a client takes a value that it does
 * not know for "other".
 */
export const GROWING: string[] = [
  ...["AgentCode", "AgentStatus", "BuildReason", "BuildStatus", "Origin", "Platform", "StepStatus", "TokenKind"],
  ...["WaitCode", "Build.trigger", "Credential.kind", "Heartbeat.reason", "JobCredential.kind", "Problem.type"],
  "Variable.warnings",
];
