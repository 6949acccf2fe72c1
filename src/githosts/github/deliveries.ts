import * as z from "zod/mini";
import { refOf } from "../../domain/git-ref.ts";
import { type Arrival, ignored, type PullAction } from "../core/arrival.ts";
import type { Fields } from "../core/body.ts";
import { CommitFields, CommitPaths, pullRequestArrival, pushArrival } from "../core/common-events.ts";
import { MERGE_QUEUE } from "../core/effect-facts.ts";
import {
  BranchName,
  factsIn,
  HostId,
  LineField,
  Login,
  optional,
  RepositoryField,
  refProblem,
  Sha,
} from "../core/fields.ts";
import { COMMIT_AS_WHOLE } from "../core/status.ts";

/*
 * People's requests on GitHub's check runs: https://docs.github.com/en/webhooks/webhook-events-and-payloads#check_run
 */

const AppCheck = z.object({ head_sha: Sha, app: z.object({ id: HostId }) });
const CheckFields = { action: z.string(), repository: RepositoryField, sender: Login };

const CheckRun = z.object({
  ...CheckFields,
  check_run: z.extend(AppCheck, { external_id: z.nullish(LineField) }),
  requested_action: z.nullish(z.object({ identifier: LineField })),
});
const CheckSuite = z.object({ ...CheckFields, check_suite: AppCheck });

const NOBODY = ignored("This event requests nothing.");
const NO_COMMIT = ignored("The check names no commit.");

const checkRunArrival = (fields: Fields): Arrival => {
  const facts = factsIn(CheckRun, fields);
  if ("kind" in facts) return facts;
  const { action, repository, sender, check_run: run, requested_action: asked } = facts;
  const { head_sha: sha, app, external_id: externalId } = run;
  if (sha === null) return NO_COMMIT;
  const arrival = { repository, sender, sha, appId: app.id };
  if (action === "rerequested") {
    return { kind: "rerun", ...arrival, externalId: externalId === COMMIT_AS_WHOLE ? null : (externalId ?? "") };
  }
  if (action !== "requested_action" || !asked) return NOBODY;
  return { kind: "pressed", ...arrival, externalId: externalId ?? "", button: asked.identifier };
};

const checkSuiteArrival = (fields: Fields): Arrival => {
  const facts = factsIn(CheckSuite, fields);
  if ("kind" in facts) return facts;
  const { action, repository, sender, check_suite: suite } = facts;
  if (action !== "rerequested") return NOBODY;
  if (suite.head_sha === null) return NO_COMMIT;
  return { kind: "rerun", repository, sender, sha: suite.head_sha, appId: suite.app.id, externalId: null };
};

/** GitHub may have cut a list of this length. */
const LISTED_COMMITS = 2048;
const LISTED_PATHS = 5000;

const Push = z.object({
  repository: RepositoryField,
  sender: optional(Login),
  ref: z.string(),
  before: Sha,
  after: Sha,
  forced: optional(z.boolean()),
  head_commit: z.nullish(z.extend(CommitFields, { id: Sha })),
  commits: optional(z.array(CommitPaths)),
});

const isWhole = (commits: CommitPaths[]): boolean =>
  commits.length < LISTED_COMMITS &&
  commits.every(({ added, removed, modified }) =>
    [added, removed, modified].every((paths) => paths.length < LISTED_PATHS),
  );

const push = (fields: Fields): Arrival => {
  const facts = factsIn(Push, fields);
  if ("kind" in facts) return facts;
  const { head_commit: head = null, forced, commits } = facts;
  return pushArrival({
    ...facts,
    commitSha: head?.id ?? null,
    head,
    commits: forced === false && commits && isWhole(commits) ? commits : null,
  });
};

const PULL_ACTIONS = new Map<string, PullAction>([
  ["opened", "opened"],
  ["synchronize", "new-head"],
  ["reopened", "reopened"],
  ["closed", "closed"],
  ["edited", "edited"],
  ["converted_to_draft", "edited"],
  ["ready_for_review", "ready"],
  ["labeled", "labeled"],
  ["unlabeled", "labeled"],
]);

/** The previous values of changed fields. */
const Changes = z.object({
  default_branch: optional(z.object({ from: BranchName })),
  repository: optional(z.object({ name: z.object({ from: LineField }) })),
  owner: optional(z.object({ from: z.object({ user: optional(Login), organization: optional(Login) }) })),
});

const RepositoryChange = z.object({
  action: z.string(),
  repository: RepositoryField,
  sender: optional(Login),
  changes: optional(Changes),
});
type RepositoryChange = z.infer<typeof RepositoryChange>;

const formerName = ({ action, repository, changes }: RepositoryChange): string | null => {
  const [owner, name] = repository.fullName.split("/");
  const { user = null, organization = null } = changes?.owner?.from ?? {};
  const was = action === "renamed" ? [owner, changes?.repository?.name.from] : [organization ?? user, name];
  return was.every((part) => part) ? was.join("/") : null;
};

const renamed = (fields: Fields): Arrival => {
  const facts = factsIn(RepositoryChange, fields);
  if ("kind" in facts) return facts;
  const { action, repository, sender, changes } = facts;
  const defaultBranch = (action === "edited" && changes?.default_branch?.from) || null;
  const isRenamed = action === "renamed" || action === "transferred";
  if (!isRenamed && defaultBranch === null) return ignored("This repository event triggers no build.");
  return {
    kind: "renamed",
    repository,
    sender,
    from: { fullName: isRenamed ? formerName(facts) : null, defaultBranch },
  };
};

const MergeGroup = z.object({
  action: z.string(),
  repository: RepositoryField,
  sender: optional(Login),
  merge_group: z.object({ head_ref: z.string(), head_sha: Sha, base_sha: optional(Sha) }),
});

const GROUP_ACTIONS = new Map([
  ["checks_requested", "asked"],
  ["destroyed", "gone"],
] as const) as ReadonlyMap<string, "asked" | "gone">;

const mergeGroup = (fields: Fields): Arrival => {
  const facts = factsIn(MergeGroup, fields);
  if ("kind" in facts) return facts;
  const { repository, sender } = facts;
  const { head_ref: ref, head_sha: sha, base_sha: base } = facts.merge_group;
  const action = GROUP_ACTIONS.get(facts.action);
  if (action === undefined) return ignored("This merge group event triggers no build.");
  if (!ref.startsWith(refOf(MERGE_QUEUE))) return ignored("The merge group has no merge queue branch.");
  const problem = refProblem(ref);
  if (problem !== null) return ignored(problem);
  if (sha === null) return ignored("The merge group has no commit.");
  return { kind: "merge-group", action, repository, sender, ref, sha, base };
};

/** Returns the event in a delivery from GitHub. @param event The delivery's header `X-GitHub-Event`. */
export const githubArrival = (event: string, fields: Fields): Arrival => {
  switch (event) {
    case "push":
      return push(fields);
    case "pull_request":
      return pullRequestArrival(fields, PULL_ACTIONS);
    case "merge_group":
      return mergeGroup(fields);
    case "check_run":
      return checkRunArrival(fields);
    case "check_suite":
      return checkSuiteArrival(fields);
    case "repository":
      return renamed(fields);
    case "ping":
      return { kind: "ping" };
    default:
      return ignored("This event triggers no build.");
  }
};
