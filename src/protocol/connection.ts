import * as z from "zod/mini";
import { atMost, notEmpty, queryNumber, withoutControls } from "./checks.ts";
import { Id, Name, NameFilter, OrgId, Timestamp } from "./common.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";
import { cursorSchema, PAGE } from "./page.ts";
import { Branch, FullName, NewRepository } from "./repository.ts";

/** The programs that hosts of git run. Forgejo is `gitea`. */
export const HostKind = z.enum(["github", "gitlab", "gitea"]);
export type HostKind = z.infer<typeof HostKind>;

/**
 * How the service proves to the host who asks: as a GitHub App of the organization's own, by a token, or not at all
 * with `none`, where people set the hooks up by hand.
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

/** Sent as the value of a header: visible ASCII. No answer has it. */
const HostToken = z
  .string()
  .check(
    atMost(LIMITS.hostTokenCharacters),
    z.regex(/^[\x21-\x7e]+$/, "must be a token of the host, without spaces or line breaks"),
  );

/** The number of a GitHub App, or its client id. */
const AppId = z.string().check(z.regex(/^[A-Za-z0-9.]{1,100}$/, "must be the App ID or the client ID of a GitHub App"));
/** PEM as GitHub hands it out. No answer has it. */
const AppPrivateKey = z.string().check(notEmpty(), atMost(LIMITS.appKeyCharacters));

/** A GitHub App that exists. Its webhook is this connection's from then on. */
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

/** What a person puts into the page of the host where hooks are made. */
export const ConnectionHook = z.object({ url: z.string(), secret: z.string() });

/** What became of the hook of one repository; `problem` is null where the host has it. */
export const HookOutcome = z.object({ repositoryId: Id, fullName: z.string(), problem: z.nullable(z.string()) });
export type HookOutcome = z.infer<typeof HookOutcome>;

export const RotatedConnection = z.extend(Connection, { hooks: z.array(HookOutcome) });

/** `pageUrl` is the page of the App at GitHub, where people install it; `hooks` are those of before, now removed. */
export const InstalledConnection = z.extend(Connection, {
  pageUrl: z.nullable(z.string()),
  hooks: z.array(HookOutcome),
});

/** A repository at the host; `repositoryId` is null where it is not connected. */
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
  /** The number of a page at the host. */
  cursor: z.optional(cursorSchema(z.string().check(z.regex(/^[1-9][0-9]{0,5}$/)))),
});

/** A repository of the host to connect: named by its number or its name. */
export const LinkedRepository = z.strictObject({
  hostRepoId: z.optional(NewRepository.shape.gitHostRepoId),
  fullName: z.optional(FullName),
  defaultBranch: z.optional(Branch),
  registersHook: z.optional(z.boolean()),
});

/** What the host says otherwise of a repository than its record. */
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
