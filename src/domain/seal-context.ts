import type { Scope } from "../protocol/variable.ts";
import { cloneOrigin } from "./clone-url.ts";

/* What a sealed value is bound to: moved to any other place, it does not open there. One list for each kind. */

interface SealedVariable {
  orgId: string;
  scope: Scope;
  ownerId: string;
  id: string;
  key: string;
  sealedVersion: number;
}

export const variableContext = ({ orgId, scope, ownerId, id, key, sealedVersion }: SealedVariable): string[] => [
  ...["variable", orgId, scope, ownerId],
  ...[id, key, String(sealedVersion)],
];

/** `envVariables` of a run. */
export const inputsContext = (orgId: string, buildId: string): string[] => ["inputs", orgId, buildId];

interface SealedCredential {
  orgId: string;
  repoId: string;
  kind: string;
  version: number;
}

/** A repository's clone credential: it opens for no other host than the one it was set for. */
export const credentialContext = ({ orgId, repoId, kind, version }: SealedCredential, cloneUrl: string): string[] => [
  ...["credential", orgId, repoId, kind, String(version), cloneOrigin(cloneUrl)],
];

/** The text that tells whether a key is the one it was. */
export const keyCheckContext = (keyId: string): string[] => ["key-check", keyId];
