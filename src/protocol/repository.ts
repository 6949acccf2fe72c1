import * as z from "zod/mini";
import { atMost, notEmpty, visible, withoutNul } from "./checks.ts";
import { Id, OrgId, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";
import { PAGE } from "./page.ts";

const SEGMENT = "[A-Za-z0-9_.-]+";

/** `<owner>/<repo>`, with subgroups between them where the host has them. */
export const FullName = z.string().check(
  atMost(LIMITS.fullNameCharacters),
  z.regex(new RegExp(`^${SEGMENT}(?:/${SEGMENT})+$`), "must have the form <owner>/<repo>"),
  z.refine((name) => !name.split("/").some((part) => /^\.+$/.test(part)), "must not have . or .. as a part"),
);

/** Where git finds the repository; what is allowed in it is the rule of `domain/clone-url.ts`. */
export const CloneUrl = z.string().check(notEmpty(), atMost(LIMITS.cloneUrlCharacters));

/**
 * A branch (git-check-ref-format), `refs/heads/` before it or not, or a full `refs/tags/...`, `refs/pull/...` or
 * `refs/merge-requests/...`; the rule is `domain/git-ref.ts`.
 */
export const Branch = z.pipe(
  z.string().check(notEmpty(), atMost(LIMITS.branchCharacters), visible()),
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

const GitHostRepoId = z.int("must be a whole number").check(z.nonnegative("must not be negative"));

export const NewRepository = z.strictObject({
  gitHostRepoId: GitHostRepoId,
  fullName: FullName,
  cloneUrl: CloneUrl,
  orgId: z.nullish(OrgId),
  defaultBranch: z.nullish(Branch),
});

export const RepositoryChange = z.strictObject({
  gitHostRepoId: z.optional(GitHostRepoId),
  fullName: z.optional(FullName),
  cloneUrl: z.optional(CloneUrl),
  defaultBranch: z.optional(Branch),
  defaultPipelineId: z.optional(z.nullable(Id)),
  isActive: z.optional(z.boolean()),
});

/** Each finds the repositories that have exactly this. */
export const RepositoryFilter = z.strictObject({
  fullName: z.optional(z.string().check(atMost(LIMITS.fullNameCharacters))),
  cloneUrl: z.optional(z.string().check(atMost(LIMITS.cloneUrlCharacters))),
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
        notEmpty(),
        atMost(LIMITS.usernameCharacters),
        z.regex(/^[^\x00-\x1F\x7F-\x9F:@/]+$/, "must not have : @ / or control characters"),
        visible(),
      ),
  ),
  value: z.string().check(notEmpty(), atMost(LIMITS.credentialCharacters), withoutNul()),
});
export const Credential = z.object({
  kind: z.enum(CREDENTIAL_KINDS),
  username: z.nullable(z.string()),
  updatedAt: Timestamp,
});
