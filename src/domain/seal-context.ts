import type { Scope } from "../protocol/variable.ts";
import { cloneOrigin } from "./clone-url.ts";

/* The context to which each kind of sealed value is bound. A value opens only with the same context. */

interface SealedVariable {
  orgId: string;
  scope: Scope;
  ownerId: string;
  id: string;
  key: string;
  sealedVersion: number;
}

export const variableContext = ({ orgId, scope, ownerId, id, key, sealedVersion }: SealedVariable): string[] => [
  "variable",
  orgId,
  scope,
  ownerId,
  id,
  key,
  String(sealedVersion),
];

/** The context of the `envVariables` of a run. */
export const inputsContext = (orgId: string, buildId: string): string[] => ["inputs", orgId, buildId];

interface SealedCredential {
  orgId: string;
  repoId: string;
  kind: string;
  version: number;
}

/** The context of a repository's clone credential. The credential opens only for the host for which it was set. */
export const credentialContext = ({ orgId, repoId, kind, version }: SealedCredential, cloneUrl: string): string[] => [
  "credential",
  orgId,
  repoId,
  kind,
  String(version),
  cloneOrigin(cloneUrl),
];

interface SealedSchedule {
  orgId: string;
  pipelineId: string;
  id: string;
}

/** The context of the values for a schedule's runs. */
export const scheduleContext = ({ orgId, pipelineId, id }: SealedSchedule): string[] => [
  "schedule",
  orgId,
  pipelineId,
  id,
];

/** The context of a known text that is sealed with each key. The text shows whether the key has changed. */
export const keyCheckContext = (keyId: string): string[] => ["key-check", keyId];

interface SealedConnection {
  id: string;
  kind: string;
  apiUrl: string;
  auth: string;
  sealedVersion: number;
}

/**
 * The context of a connection's secrets. They open only for the git host and the API address for which a person entered
 * them. The key of an App does not open as a token, so nothing can send it.
 */
export const connectionContext = ({ id, kind, apiUrl, auth, sealedVersion }: SealedConnection): string[] => [
  "connection",
  id,
  kind,
  apiUrl,
  String(sealedVersion),
  ...(auth === "app" ? ["app"] : []),
];
