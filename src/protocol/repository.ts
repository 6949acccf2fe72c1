import * as z from "zod/mini";
import { Id, OrgId, Timestamp, visible } from "./common.ts";
import { PAGE } from "./page.ts";

const SEGMENT = "[A-Za-z0-9_.-]+";

/** `<owner>/<repo>`, with subgroups between them where the host has them. */
export const FullName = z.string().check(
  z.maxLength(400, "must have at most 400 characters"),
  z.regex(new RegExp(`^${SEGMENT}(?:/${SEGMENT})+$`), "must have the form <owner>/<repo>"),
  z.refine((name) => !name.split("/").some((part) => /^\.+$/.test(part)), "must not have . or .. as a part"),
);

/** Where git finds the repository; what is allowed in it is the rule of `domain/clone-url.ts`. */
export const CloneUrl = z.string().check(z.minLength(1), z.maxLength(2000, "must have at most 2000 characters"));

/**
 * A branch (git-check-ref-format), `refs/heads/` before it or not, or a full `refs/tags/...`, `refs/pull/...` or
 * `refs/merge-requests/...`; the rule is `domain/git-ref.ts`.
 */
export const Branch = z.pipe(
  z
    .string()
    .check(z.minLength(1, "must not be empty"), z.maxLength(250, "must have at most 250 characters"), visible()),
  z.transform((name) => name.replace(/^refs\/heads\//, "")),
);

/** A whole commit hash: 40 (SHA-1) or 64 (SHA-256) hexadecimal digits. */
export const CommitSha = z.pipe(
  z
    .string()
    .check(z.regex(/^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/, "must be a whole commit hash of 40 or 64 hex digits")),
  z.transform((sha) => sha.toLowerCase()),
);

export const Repository = z.object({
  id: Id,
  orgId: OrgId,
  gitHostRepoId: z.int(),
  fullName: z.string(),
  cloneUrl: z.string(),
  defaultBranch: z.string(),
  defaultPipelineId: z.nullable(Id),
  isActive: z.boolean(),
  hasCredential: z.boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Repository = z.infer<typeof Repository>;

export const NewRepository = z.strictObject({
  gitHostRepoId: z.int("must be a whole number").check(z.nonnegative("must not be negative")),
  fullName: FullName,
  cloneUrl: CloneUrl,
  orgId: z.nullish(OrgId),
  defaultBranch: z.nullish(Branch),
});

export const RepositoryChange = z.strictObject({
  gitHostRepoId: z.optional(z.int("must be a whole number").check(z.nonnegative("must not be negative"))),
  fullName: z.optional(FullName),
  cloneUrl: z.optional(CloneUrl),
  defaultBranch: z.optional(Branch),
  defaultPipelineId: z.optional(z.nullable(Id)),
  isActive: z.optional(z.boolean()),
});

/** Each finds the repositories that have exactly this. */
export const RepositoryFilter = z.strictObject({
  fullName: z.optional(z.string().check(z.maxLength(400, "must have at most 400 characters"))),
  cloneUrl: z.optional(z.string().check(z.maxLength(2000, "must have at most 2000 characters"))),
  ...PAGE,
});

export const CREDENTIAL_KINDS = ["token", "ssh-key"] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** What git needs to clone a private repository. No answer to people has the value. */
export const NewCredential = z.strictObject({
  kind: z.enum(CREDENTIAL_KINDS),
  username: z.nullish(
    z
      .string()
      .check(
        z.minLength(1),
        z.maxLength(200),
        z.regex(/^[^\x00-\x1F\x7F-\x9F:@/]+$/, "must not have : @ / or control characters"),
        visible(),
      ),
  ),
  value: z.string().check(
    z.minLength(1, "must not be empty"),
    z.maxLength(16_384),
    z.refine((text) => !text.includes("\0"), "must not have a NUL character"),
  ),
});
export const Credential = z.object({
  kind: z.enum(CREDENTIAL_KINDS),
  username: z.nullable(z.string()),
  updatedAt: Timestamp,
});
