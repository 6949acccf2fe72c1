import * as z from "zod/mini";
import { intBetween } from "./checks.ts";
import { Id, Labels, Name, NameFilter, OrgId, QueryFlag, Timestamp } from "./common.ts";
import { DEFAULTS, LIMITS } from "./limits.ts";
import { PAGE } from "./page.ts";

/** The permissions of API tokens, from least to most. Each role includes the previous ones. */
export const ROLES = ["viewer", "member", "maintainer", "admin"] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

/** Reports whether `held` includes the permissions of `needed`. */
export const includesRole = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);

export const TokenKind = z.enum(["api", "registration"]);
export type TokenKind = z.infer<typeof TokenKind>;

export const Token = z.object({
  id: Id,
  orgId: OrgId,
  name: Name,
  kind: TokenKind,
  role: z.nullable(Role),
  labels: z.nullable(Labels),
  expiresAt: z.nullable(Timestamp),
  lastUsedAt: z.nullable(Timestamp),
  createdAt: Timestamp,
});
export type Token = z.infer<typeof Token>;

const Expiry = z.iso.datetime({ offset: true });

/**
 * The request for a new token. The kind api has a `role` (member by default). The kind registration has `labels`, the
 * most that its agents may claim.
 */
export const NewToken = z.strictObject({
  name: Name,
  kind: TokenKind,
  role: z.nullish(Role),
  labels: z.nullish(Labels),
  expiresAt: z.nullish(Expiry),
});

export const TokenChange = z.strictObject({
  name: z.optional(Name),
  role: z.optional(z.nullable(Role)),
  labels: z.optional(z.nullable(Labels)),
  expiresAt: z.optional(z.nullable(Expiry)),
});

export const TokenRemoval = z.strictObject({
  agents: z._default(QueryFlag, false),
});

/** The record of the token, with the token itself, which no later answer contains. */
export const CreatedToken = z.extend(Token, { token: z.string() });

/** The time for which the previous secret stays valid. */
export const TokenRotation = z.strictObject({
  graceSeconds: z._default(intBetween(0, LIMITS.graceSeconds), DEFAULTS.graceSeconds),
});

export const TokenFilter = z.strictObject({ name: z.optional(NameFilter), ...PAGE });
