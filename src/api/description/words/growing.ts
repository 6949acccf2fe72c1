/**
 * Enums, as schemas or as fields of one, that may get new values in answers. The description marks them with
 * `x-extensible-enum`, and a client treats an unknown value as "other".
 */
export const GROWING: string[] = [
  "AgentCode",
  "AgentStatus",
  "BuildEvent",
  "BuildReason",
  "BuildStatus",
  "HostKind",
  "JobStatus",
  "Origin",
  "Platform",
  "StepStatus",
  "TokenKind",
  "WaitCode",
  "Build.trigger",
  "Cause.kind",
  "Connection.auth",
  "Credential.kind",
  "Heartbeat.reason",
  "JobCredential.kind",
  "Problem.type",
  "Variable.warnings",
];
