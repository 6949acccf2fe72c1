import * as z from "zod/mini";
import { atMost, atMostItems, notEmpty, visible, withoutNul } from "./checks.ts";
import { Id, OrgId, Timestamp } from "./common.ts";
import { LIMITS } from "./limits.ts";
import { PAGE } from "./page.ts";

const SEGMENT = "[A-Za-z0-9_.-]+";

/** `<owner>/<repo>`, with subgroups between them on hosts that support subgroups. */
export const FullName = z.string().check(
  atMost(LIMITS.fullNameCharacters),
  z.regex(new RegExp(`^${SEGMENT}(?:/${SEGMENT})+$`), "must have the form <owner>/<repo>"),
  z.refine((name) => !name.split("/").some((part) => /^\.+$/.test(part)), "must not have . or .. as a part"),
);

/** The address from which git clones. `domain/clone-url.ts` decides which addresses are allowed. */
export const CloneUrl = z.string().check(notEmpty(), atMost(LIMITS.cloneUrlCharacters));

/**
 * A branch, with or without `refs/heads/`, or a full `refs/tags/...`, `refs/pull/...` or `refs/merge-requests/...`.
 * `domain/git-ref.ts` has the rules (git-check-ref-format).
 */
export const Branch = z.pipe(
  z.string().check(notEmpty(), atMost(LIMITS.branchCharacters), visible()),
  z.transform((name) => name.replace(/^refs\/heads\//, "")),
);

/** A full commit hash in hexadecimal digits: 40 (SHA-1) or 64 (SHA-256). */
export const CommitSha = z.pipe(
  z
    .string()
    .check(z.regex(/^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/, "must be a full commit hash of 40 or 64 hex digits")),
  z.transform((sha) => sha.toLowerCase()),
);

/**
 * The rule for pull requests of forks. The service does not build them, or builds each commit once a member approves
 * it, or also builds members' commits without approval.
 */
export const Forks = z.enum(["off", "approval", "members"]);
export type Forks = z.infer<typeof Forks>;

/** Names of people and programs at the git host, such as `renovate[bot]`. */
const UntrustedAuthors = z
  .array(z.string().check(notEmpty(), atMost(LIMITS.nameCharacters), visible()))
  .check(atMostItems(LIMITS.untrustedAuthors, "names"));

export const Repository = z.object({
  id: Id,
  orgId: OrgId,
  gitHostRepoId: z.int(),
  fullName: z.string(),
  cloneUrl: z.string(),
  defaultBranch: z.string(),
  defaultPipelineId: z.nullable(Id),
  connectionId: z.nullable(Id),
  isActive: z.boolean(),
  hasCredential: z.boolean(),
  hasHook: z.boolean(),
  forks: Forks,
  untrustedAuthors: z.array(z.string()),
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
  connectionId: z.nullish(Id),
  forks: z.optional(Forks),
  untrustedAuthors: z.optional(UntrustedAuthors),
});

export const RepositoryChange = z.strictObject({
  gitHostRepoId: z.optional(GitHostRepoId),
  fullName: z.optional(FullName),
  cloneUrl: z.optional(CloneUrl),
  defaultBranch: z.optional(Branch),
  defaultPipelineId: z.optional(z.nullable(Id)),
  connectionId: z.optional(z.nullable(Id)),
  isActive: z.optional(z.boolean()),
  forks: z.optional(Forks),
  untrustedAuthors: z.optional(UntrustedAuthors),
});

/** Each filter matches the repositories with exactly this value. */
export const RepositoryFilter = z.strictObject({
  fullName: z.optional(z.string().check(atMost(LIMITS.fullNameCharacters))),
  cloneUrl: z.optional(z.string().check(atMost(LIMITS.cloneUrlCharacters))),
  ...PAGE,
});

export const CREDENTIAL_KINDS = ["token", "ssh-key"] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** The credential with which git clones a private repository. No answer to people contains the value. */
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
