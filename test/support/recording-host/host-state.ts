import type { HostKind } from "../../../src/protocol/connection.ts";

/** A repository at the recording host. `formerNames` redirect to it. */
export interface HostedRepository {
  id: number;
  fullName: string;
  defaultBranch?: string;
  isPrivate?: boolean;
  formerNames?: string[];
}

/** What goes wrong with requests whose `METHOD path` begins so. */
export interface HostFault {
  on: string;
  /** A status, or: a page for people, a redirect to another host or to itself, 10 MB, no answer at all. */
  answer: number | "html" | "elsewhere" | "loop" | "large" | "never";
  headers?: Record<string, string>;
  body?: string;
  /** How often; always where it is left out. */
  times?: number;
}

/** A GitHub App at the recording host. */
export interface HostedApp {
  id: number;
  clientId: string;
  /** PEM. */
  publicKey: string;
  /** Where it is installed; nowhere without it. */
  installationId?: number;
  account?: string;
  permissions?: Record<string, string>;
  /** Numbers of the repositories that it is installed for; all of the host without it. */
  sees?: number[];
  /** Whether git hides its repositories from tokens of the form of April 2026. */
  gitTakesClassicOnly?: boolean;
  /** How long its tokens live. */
  tokenMs?: number;
  /** Whether its clock does not matter: tests let the service's be ahead. */
  isAnyTime?: boolean;
  /** What the code of a manifest is worth, once: the private key as PEM. */
  made?: { code: string; key: string };
}

/** A token that the host gave to an App, and what was asked for. */
export interface MintedToken {
  token: string;
  body: { repository_ids?: number[]; permissions?: Record<string, string> };
  isClassic: boolean;
}

/** An attempt of GitHub to deliver to the App. */
export interface HostedAttempt {
  id: number;
  guid: string;
  delivered_at: string;
  redelivery: boolean;
  status: string;
  status_code: number;
  event: string;
  action: string | null;
  repository_id: number | null;
  payload: object;
}

/** A check run as it was made, with what was changed since. `bodies` are the requests, the first of which made it. */
export interface HostedCheckRun {
  id: number;
  repositoryId: number;
  sha: string;
  body: Record<string, unknown>;
  bodies: Record<string, unknown>[];
}

/** An external job of a pipeline. GitLab has a pipeline for each commit and ref. */
export interface HostedJob {
  pipeline: number;
  repositoryId: number;
  sha: string;
  ref: string;
  name: string;
  status: string;
}

/** How a recording host is furnished. */
export interface HostSettings {
  kind: HostKind;
  token: string;
  account?: string;
  /** What the host tells of the token; null where it tells nothing. */
  scopes?: string[] | null;
  mayManageHooks?: boolean;
  repositories?: HostedRepository[];
  faults?: HostFault[];
  /** How many requests that change something it does and does not answer well. */
  loses?: number;
  app?: HostedApp | null;
  /** The newest first. */
  attempts?: HostedAttempt[];
  /** What people may do, by their logins: a permission, or the name of a role. */
  people?: Record<string, string>;
}

/** A request as it came in. */
export interface Recorded {
  method: string;
  /** Below the address of the API, without the query. */
  path: string;
  query: string;
  headers: Record<string, string>;
  body: unknown;
  /** What is wrong with it by the description of the host's API. */
  problems: string[];
}

/** A hook as it was registered. */
export interface HostedHook {
  id: number;
  repositoryId: number;
  url: string;
  secret: string;
  events: string[];
}

/** A state of a commit as it was posted. */
export interface PostedStatus {
  repositoryId: number;
  sha: string;
  body: Record<string, unknown>;
}
