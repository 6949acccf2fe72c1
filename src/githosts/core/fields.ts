import * as z from "zod/mini";
import { branchProblem } from "../../domain/git-ref.ts";
import { atMost, visible } from "../../protocol/checks.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { CommitSha, FullName } from "../../protocol/repository.ts";
import { type Ignored, ignored } from "./arrival.ts";
import type { Fields } from "./body.ts";

const TEXT_CHARACTERS = 250;

/** An optional fact that nothing depends on. It is null if it is missing or of another type. */
export const optional = <Schema extends z.ZodMiniType>(schema: Schema) =>
  z.catch(z._default(z.nullable(schema), null), null);

/** One line for people, without an incomplete character at its end. */
export const oneLine = (text: string): string =>
  text
    .slice(0, TEXT_CHARACTERS)
    .replaceAll(/[\x00-\x1f\x7f-\x9f]/g, " ")
    .toWellFormed();

export const LineField = z.pipe(z.string(), z.transform(oneLine));

/** A whole number below 2^53, which parsing cannot change. */
export const HostId = z.int().check(z.positive());

/** The end of 9999-12-31, because later years do not sort as text. */
const LAST_TIME = 253_402_300_799_999;

/** A time as ISO 8601 in UTC; null for other text. GitLab also writes `2017-09-15 16:52:00 UTC`. */
export const HostTime = z.pipe(
  z.string(),
  z.transform((text) => {
    const time = Date.parse(text.replace(/^(\S+) (\S+) UTC$/, "$1T$2Z"));
    return time >= 0 && time <= LAST_TIME ? new Date(time).toISOString() : null;
  }),
);

/** A commit's hash; null for zeros, which hosts send for no commit. */
export const Sha = z.pipe(
  CommitSha,
  z.transform((sha) => (/^0+$/.test(sha) ? null : sha)),
);

const NAME_CHECKS = [
  atMost(LIMITS.branchCharacters),
  visible(),
  z.check<string>((context) => {
    const problem = branchProblem(context.value);
    if (problem !== null) context.issues.push({ code: "custom", message: problem, input: context.value });
  }),
];

const RefName = z.string().check(...NAME_CHECKS);

/** A branch as a build may name it. A name that begins like a full ref could be confused with that ref. */
export const BranchName = z.string().check(
  z.refine((name) => !name.startsWith("refs/"), "must not begin with refs/"),
  ...NAME_CHECKS,
);

/** The source of a pull request: a branch, or a full ref if Gitea created it without a branch. */
export const HeadName = RefName;

/** A repository, in the form of GitHub and Gitea. */
export const RepositoryField = z.pipe(
  z.object({ id: HostId, full_name: FullName, default_branch: optional(BranchName) }),
  z.transform(({ id, full_name, default_branch }) => ({ id, fullName: full_name, defaultBranch: default_branch })),
);

/** A person, in the form of GitHub and Gitea. */
export const Login = z.pipe(
  z.object({ login: LineField }),
  z.transform(({ login }) => login),
);

const LABELS = 100;

/** The names of a pull request's labels. The list is empty if the field is missing. */
export const labelsField = (label: z.ZodMiniType<string>) =>
  z.pipe(
    optional(z.array(label)),
    z.transform((labels) => (labels ?? []).slice(0, LABELS)),
  );

const HEADS = "refs/heads/";

/** Returns why a push to a ref is not built; null for a branch or a tag that a build may name. */
export const refProblem = (ref: string): string | null => {
  const isBranch = ref.startsWith(HEADS);
  if (!isBranch && !ref.startsWith("refs/tags/")) return "The ref is neither a branch nor a tag.";
  const parsed = isBranch ? BranchName.safeParse(ref.slice(HEADS.length)) : RefName.safeParse(ref);
  return parsed.success ? null : `The name of the ${isBranch ? "branch" : "tag"} ${parsed.error.issues[0]?.message}.`;
};

/** Reads the facts of a delivery. If a field is missing or wrong, names the field, but never its value. */
export const factsIn = <Schema extends z.ZodMiniType>(schema: Schema, fields: Fields): z.output<Schema> | Ignored => {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  return ignored(`The field ${parsed.error.issues[0]?.path.join(".")} is missing or invalid.`);
};
