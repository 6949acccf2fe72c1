import * as z from "zod/mini";
import { atMost, notEmpty, queryNumber, withoutControls } from "./checks.ts";
import { Id, Name, NameFilter, OrgId, Timestamp } from "./common.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";
import { cursorSchema, PAGE } from "./page.ts";
import { Branch, FullName, NewRepository } from "./repository.ts";

/** The software of a git host. Forgejo is `gitea`. */
export const HostKind = z.enum(["github", "gitlab", "gitea"]);
export type HostKind = z.infer<typeof HostKind>;

/**
 * How the service authenticates at the host: as the organization's own GitHub App (`app`), with a token (`token`), or
 * not at all (`none`). With `none`, people set up the hooks by hand.
 */
const ConnectionAuth = z.enum(["app", "token", "none"]);

export const Connection = z.object({
  id: Id,
  orgId: OrgId,
  kind: HostKind,
  name: Name,
  webUrl: z.string(),
  apiUrl: z.string(),
  auth: ConnectionAuth,
  hasToken: z.boolean(),
  appId: z.nullable(z.string()),
  installationId: z.nullable(z.string()),
  account: z.nullable(z.string()),
  hookGeneration: z.int(),
  isActive: z.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Connection = z.infer<typeof Connection>;

const HostAddress = z.string().check(notEmpty(), atMost(LIMITS.hostAddressCharacters), withoutControls());

/** A host's token. It is visible ASCII, because it is sent as a header's value. No answer contains it. */
const HostToken = z
  .string()
  .check(
    atMost(LIMITS.hostTokenCharacters),
    z.regex(/^[\x21-\x7e]+$/, "must be a token of the host, without spaces or line breaks"),
  );

/** The number of a GitHub App, or its client id. */
const AppId = z.string().check(z.regex(/^[A-Za-z0-9.]{1,100}$/, "must be the App ID or the client ID of a GitHub App"));
/** The private key of an App as PEM, in GitHub's format. No answer contains it. */
const AppPrivateKey = z.string().check(notEmpty(), atMost(LIMITS.appKeyCharacters));

/** An existing GitHub App. From now on, the App's webhook belongs to this connection. */
const GivenApp = z.strictObject({ id: AppId, privateKey: AppPrivateKey });
/** Another key of the App, or another App. */
const ChangedApp = z.strictObject({ id: z.optional(AppId), privateKey: AppPrivateKey });

export const NewConnection = z.strictObject({
  kind: HostKind,
  name: Name,
  webUrl: HostAddress,
  apiUrl: z.nullish(HostAddress),
  token: z.nullish(HostToken),
  app: z.optional(GivenApp),
  orgId: z.nullish(OrgId),
});

export const ConnectionChange = z.strictObject({
  name: z.optional(Name),
  webUrl: z.optional(HostAddress),
  apiUrl: z.optional(HostAddress),
  token: z.optional(z.nullable(HostToken)),
  app: z.optional(ChangedApp),
  isActive: z.optional(z.boolean()),
});

export const ConnectionFilter = z.strictObject({ name: z.optional(NameFilter), ...PAGE });

/** The values that a person enters on the host's page for hooks. */
export const ConnectionHook = z.object({ url: z.string(), secret: z.string() });

/** The state of one repository's hook. `problem` is null if the host has the hook. */
export const HookOutcome = z.object({ repositoryId: Id, fullName: z.string(), problem: z.nullable(z.string()) });
export type HookOutcome = z.infer<typeof HookOutcome>;

export const RotatedConnection = z.extend(Connection, { hooks: z.array(HookOutcome) });

/**
 * The connection of an App. `pageUrl` is the App's page at GitHub, where people install it. `hooks` are the earlier
 * hooks, which are now removed.
 */
export const InstalledConnection = z.extend(Connection, {
  pageUrl: z.nullable(z.string()),
  hooks: z.array(HookOutcome),
});

/** A repository at the host. `repositoryId` is null if the repository is not connected. */
export const HostRepository = z.object({
  hostRepoId: z.int(),
  fullName: z.string(),
  defaultBranch: z.nullable(z.string()),
  cloneUrl: z.string(),
  isPrivate: z.nullable(z.boolean()),
  repositoryId: z.nullable(Id),
});
export type HostRepository = z.infer<typeof HostRepository>;

export const HostRepositoryFilter = z.strictObject({
  limit: z.optional(z._default(queryNumber(1, LIMITS.hostPageLength), DEFAULTS.hostPageLength)),
  /** The number of the page at the host. */
  cursor: z.optional(cursorSchema(z.string().check(z.regex(/^[1-9][0-9]{0,5}$/)))),
});

/** A repository to connect, by its number or its name at the host. */
export const LinkedRepository = z.strictObject({
  hostRepoId: z.optional(NewRepository.shape.gitHostRepoId),
  fullName: z.optional(FullName),
  defaultBranch: z.optional(Branch),
  registersHook: z.optional(z.boolean()),
});

/** A field of a repository's record that differs at the host. */
const RepositoryDifference = z.object({ repositoryId: Id, fullName: z.string(), detail: z.string() });
export type RepositoryDifference = z.infer<typeof RepositoryDifference>;

export const ConnectionCheck = z.object({
  isOk: z.boolean(),
  problem: z.nullable(z.string()),
  account: z.nullable(z.string()),
  scopes: z.nullable(z.array(z.string())),
  missing: z.array(z.string()),
  hooks: z.array(HookOutcome),
  differences: z.array(RepositoryDifference),
  lastDeliveryAt: z.nullable(Timestamp),
  waiting: z.int(),
  waitingSince: z.nullable(Timestamp),
  trouble: z.nullable(z.string()),
  givenUp: z.array(
    z.object({
      fullName: z.string(),
      sha: z.string(),
      context: z.string(),
      buildId: Id,
      reason: z.string(),
      at: Timestamp,
    }),
  ),
});
export type ConnectionCheck = z.infer<typeof ConnectionCheck>;
