import type { Scope } from "../protocol/variable.ts";
import { cloneOrigin } from "./clone-url.ts";

/* The context to which each kind of sealed value is bound. A value opens with the same context only. */

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

/** `envVariables` of a run. */
export const inputsContext = (orgId: string, buildId: string): string[] => ["inputs", orgId, buildId];

interface SealedCredential {
  orgId: string;
  repoId: string;
  kind: string;
  version: number;
}

/** A repository's clone credential opens only for the host for which it was set. */
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

/** The values of a schedule's runs. */
export const scheduleContext = ({ orgId, pipelineId, id }: SealedSchedule): string[] => [
  "schedule",
  orgId,
  pipelineId,
  id,
];

/** A known text, sealed with each key. It shows whether the key has changed. */
export const keyCheckContext = (keyId: string): string[] => ["key-check", keyId];

interface SealedConnection {
  id: string;
  kind: string;
  apiUrl: string;
  auth: string;
  sealedVersion: number;
}

/**
 * A connection's secrets open only for the git host, and the API address, for which they were given. The key of an App
 * does not open as a token, so nothing can send it.
 */
export const connectionContext = ({ id, kind, apiUrl, auth, sealedVersion }: SealedConnection): string[] => [
  "connection",
  id,
  kind,
  apiUrl,
  String(sealedVersion),
  ...(auth === "app" ? ["app"] : []),
];
