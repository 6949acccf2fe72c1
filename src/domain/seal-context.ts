import type { Scope } from "../protocol/variable.ts";

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

/** A repository's clone credential. */
export const credentialContext = (row: { orgId: string; repoId: string; kind: string; version: number }): string[] => [
  ...["credential", row.orgId, row.repoId, row.kind, String(row.version)],
];

/** The text that tells whether a key is the one it was. */
export const keyCheckContext = (keyId: string): string[] => ["key-check", keyId];
