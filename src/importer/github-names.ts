import { NoEqual } from "./marks.ts";
import type { Names } from "./names.ts";

/*
 * The contexts `github` and `runner`: the equivalent of each name here. Equivalents with several parts have ( ) around
 * them.
 */

const PULL_SHA = "case(build.event == 'pull', build.commit, '')";

type Equivalent = string | ((names: Names) => string);

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const refName = "(build.tag || build.branch)";

/** Properties, in lower case. A text and null mean the same in an expression, unless something names the type. */
const GITHUB: Record<string, Equivalent> = {
  sha: "build.commit",
  "event.after": "build.commit",
  ref: ({ hasPulls }) =>
    hasPulls ? "case(build.event == 'pull', format('refs/pull/{0}/merge', build.pull.number), build.ref)" : "build.ref",
  ref_name: ({ hasPulls }) =>
    hasPulls ? `case(build.event == 'pull', format('{0}/merge', build.pull.number), ${refName})` : refName,
  ref_type: "case(build.tag != null, 'tag', 'branch')",
  head_ref: "build.pull.branch",
  base_ref: "build.pull.base",
  event_name:
    "case(build.event == 'pull', 'pull_request', build.event == 'tag', 'push', build.event == 'merge-group', 'merge_group', build.event == 'api', 'workflow_dispatch', build.event)",
  repository: "repository.fullName",
  run_id: "build.id",
  run_number: "build.number",
  run_attempt: "build.attempt",
  workflow: ({ workflow }) => quote(workflow),
  job: ({ job }) => {
    if (job === null) throw new NoEqual("`github.job` outside a job");
    return quote(job);
  },
  "event.number": "build.pull.number",
  "event.pull_request.number": "build.pull.number",
  "event.pull_request.head.ref": "build.pull.branch",
  "event.pull_request.base.ref": "build.pull.base",
  "event.pull_request.head.sha": PULL_SHA,
  "event.pull_request.base.repo.full_name": "case(build.event == 'pull', repository.fullName, '')",
  // Callers want to know whether a stranger wrote the code. The true value also includes authors on the list.
  "event.pull_request.head.repo.fork": ({ hasPulls }) =>
    hasPulls ? "case(build.event == 'pull', !build.trusted, '')" : "''",
  "event.head_commit.message": "case(build.event == 'push' || build.event == 'tag', build.message, '')",
};

const RUNNER: Record<string, Equivalent> = {
  os: "case(agent.platform == 'macos', 'macOS', agent.platform == 'linux', 'Linux', 'Windows')",
  name: "agent.name",
  environment: "'self-hosted'",
};

const REASONS: Record<string, string> = {
  "github.actor": "a build does not say who caused it",
  "github.triggering_actor": "a build does not say who caused it",
  "github.workspace": "use $PWD in a script",
  "github.event.pull_request.head.repo.full_name": "compare it with `github.repository`",
};

/** Returns the equivalent of `github.a.b` or `runner.a`. @throws {NoEqual} */
export const contextName = (context: "github" | "runner", keys: string[], names: Names): string => {
  const key = keys.join(".").toLowerCase();
  if (context === "runner" && key === "temp" && names.env.includes("RUNNER_TEMP")) return "env.RUNNER_TEMP";
  const table = context === "github" ? GITHUB : RUNNER;
  const equivalent = Object.hasOwn(table, key) ? table[key] : undefined;
  if (equivalent === undefined) {
    if (context === "github" && key === "token") throw new NoEqual("`github.token`", "token");
    const reason = REASONS[`${context}.${key}`];
    throw new NoEqual(`\`${[context, ...keys].join(".")}\`${reason ? ` (${reason})` : ""}`);
  }
  return typeof equivalent === "string" ? equivalent : equivalent(names);
};

/* A pull request's source and target repositories: by name, number or owner. */

const NAMED_REPOSITORY = String.raw`repo\.(?:full_name|id|node_id|url|html_url|clone_url|owner\.(?:login|id))|user\.(?:login|id)`;
const HEAD_REPOSITORY = new RegExp(`^github\\.event\\.pull_request\\.head\\.(?:${NAMED_REPOSITORY})$`, "i");
const BASE_REPOSITORY = new RegExp(`^github\\.event\\.pull_request\\.base\\.(?:${NAMED_REPOSITORY})$`, "i");
const OWN_REPOSITORY =
  /^github\.(?:repository(?:_id|_owner|_owner_id)?|event\.repository\.(?:full_name|id|node_id|url|html_url|clone_url|owner\.(?:login|id)))$/i;

/**
 * Translates a check that a pull request's code is from the repository itself. It is false in other builds, unless the
 * other side is a value that only a pull request has. `build.trusted` is stricter: it does not trust code of an author
 * on the list either. Undefined for other comparisons.
 */
export const translateOwnership = (left: string, right: string, { hasPulls }: Names): string | undefined => {
  const other = HEAD_REPOSITORY.test(left) ? right : HEAD_REPOSITORY.test(right) ? left : undefined;
  if (other === undefined) return undefined;
  if (BASE_REPOSITORY.test(other)) return hasPulls ? "(build.event != 'pull' || build.trusted)" : "true";
  if (!OWN_REPOSITORY.test(other)) return undefined;
  return hasPulls ? "(build.event == 'pull' && build.trusted)" : "false";
};

const EVENTS: Record<string, string> = {
  push: "(build.event == 'push' || build.event == 'tag')",
  pull_request: "build.event == 'pull'",
  schedule: "build.event == 'schedule'",
  workflow_dispatch: "build.event == 'api'",
  merge_group: "build.event == 'merge-group'",
};

const notPull = (names: Names, condition: string): string =>
  names.hasPulls ? `(build.event != 'pull' && ${condition})` : condition;

/** Returns a shorter test that a name equals a text; undefined if the value itself must be compared. */
export const translateEquality = (path: string, text: string, names: Names): string | undefined => {
  switch (path.toLowerCase()) {
    case "github.event_name":
      return Object.hasOwn(EVENTS, text.toLowerCase()) ? EVENTS[text.toLowerCase()] : "false";
    case "github.ref":
      if (/^refs\/(?:heads|tags)\//i.test(text)) return notPull(names, `build.ref == ${quote(text)}`);
      return undefined;
    case "github.ref_name":
      return /\/merge$/i.test(text) ? undefined : notPull(names, `${refName} == ${quote(text)}`);
    case "github.ref_type":
      return text.toLowerCase() === "tag"
        ? "build.tag != null"
        : text.toLowerCase() === "branch"
          ? "build.tag == null"
          : "false";
    case "github.repository_owner":
      return /^[\w.-]+$/.test(text) ? `startsWith(repository.fullName, ${quote(`${text}/`)})` : "false";
    case "github.event.pull_request.head.repo.full_name":
      return names.hasPulls
        ? `(build.event == 'pull' && build.trusted && repository.fullName == ${quote(text)})`
        : "false";
    case "runner.os":
      return `agent.platform == ${quote(text.toLowerCase())}`;
    default:
      return undefined;
  }
};

/** Returns a shorter test that a ref begins with a text. */
export const translateBeginning = (path: string, text: string, names: Names): string | undefined => {
  if (path.toLowerCase() === "github.ref" && /^refs\/heads\//i.test(text))
    return notPull(names, `startsWith(build.ref, ${quote(text)})`);
  if (path.toLowerCase() === "github.ref" && /^refs\/tags\//i.test(text))
    return `startsWith(build.ref, ${quote(text)})`;
  return undefined;
};
