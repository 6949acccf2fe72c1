import * as z from "zod";
import { Id, OrgId, Timestamp } from "./common.ts";

const SEGMENT = "[A-Za-z0-9_.-]+";

/** `<owner>/<repo>`, with subgroups between them where the host has them. */
export const FullName = z
  .string()
  .max(400, "must have at most 400 characters")
  .regex(new RegExp(`^${SEGMENT}(?:/${SEGMENT})+$`), "must have the form <owner>/<repo>")
  .refine((name) => !name.split("/").some((part) => /^\.+$/.test(part)), "must not have . or .. as a part");

/** Where git finds the repository; what is allowed in it is the rule of `domain/clone-url.ts`. */
export const CloneUrl = z.string().min(1).max(2000, "must have at most 2000 characters");

/** A branch (git-check-ref-format) or a full `refs/tags/...` or `refs/pull/...`; the rule is `domain/git-ref.ts`. */
export const Branch = z.string().min(1, "must not be empty").max(250, "must have at most 250 characters");

/** A whole commit hash: 40 (SHA-1) or 64 (SHA-256) hexadecimal digits. */
export const CommitSha = z
  .string()
  .regex(/^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/, "must be a whole commit hash of 40 or 64 hex digits")
  .transform((sha) => sha.toLowerCase());

export const Repository = z.object({
  id: Id,
  orgId: OrgId,
  gitHostRepoId: z.int(),
  fullName: z.string(),
  cloneUrl: z.string(),
  defaultBranch: z.string(),
  defaultPipelineId: Id.nullable(),
  isActive: z.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Repository = z.infer<typeof Repository>;

export const NewRepository = z.strictObject({
  gitHostRepoId: z.int("must be a whole number").nonnegative("must not be negative"),
  fullName: FullName,
  cloneUrl: CloneUrl,
  orgId: OrgId.nullish(),
  defaultBranch: Branch.nullish(),
});

export const RepositoryChange = z.strictObject({
  gitHostRepoId: z.int("must be a whole number").nonnegative("must not be negative").optional(),
  fullName: FullName.optional(),
  cloneUrl: CloneUrl.optional(),
  defaultBranch: Branch.optional(),
  defaultPipelineId: Id.nullable().optional(),
  isActive: z.boolean().optional(),
});

/** A credential for the clone of a private repository; never returned. */
export const NewCredential = z.strictObject({
  kind: z.enum(["token", "ssh-key"]),
  username: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[^\p{Cc}:@/]+$/u, "must not have : @ / or control characters")
    .nullish(),
  value: z
    .string()
    .min(1, "must not be empty")
    .max(16_384)
    .refine((text) => !text.includes("\0"), "must not have a NUL character"),
});
export const Credential = z.object({
  kind: z.enum(["token", "ssh-key"]),
  username: z.string().nullable(),
  updatedAt: Timestamp,
});
