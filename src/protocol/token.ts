import * as z from "zod";
import { Id, Labels, Name, OrgId, Timestamp } from "./common.ts";

/** What a person's token may do; each role may also do what the ones before it may. */
export const ROLES = ["viewer", "member", "maintainer", "admin"] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

export const TokenKind = z.enum(["api", "registration"]);

export const Token = z.object({
  id: Id,
  orgId: OrgId,
  name: Name,
  kind: TokenKind,
  role: Role.nullable(),
  labels: Labels.nullable(),
  expiresAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
  createdAt: Timestamp,
});
export type Token = z.infer<typeof Token>;

/** `role` belongs to kind api (default member); `labels`, what an agent may claim at most, to kind registration. */
export const NewToken = z.strictObject({
  name: Name,
  kind: TokenKind,
  role: Role.nullish(),
  labels: Labels.nullish(),
  expiresAt: z.iso.datetime({ offset: true }).nullish(),
});

/** The record with the token itself, which is shown this once. */
export const CreatedToken = Token.extend({ token: z.string() });

/** How long the secret before stays good: an hour unless told, a week at most. */
export const TokenRotation = z.strictObject({
  graceSeconds: z.int().min(0, "must be 0 to 604800").max(604_800, "must be 0 to 604800").default(3600),
});
