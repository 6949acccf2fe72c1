import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Row } from "./row.ts";
import { CANARY, foreign, own, UUID } from "./stage.ts";

const build = (is: string, change: () => object, pointer: string, more: Partial<Row> = {}): Row => ({
  is: `a build with ${is}`,
  path: "/build",
  body: () => ({ pipelineId: own.pipeline.id, branch: "main", ...change() }),
  ...{ status: 422, kind: "invalid", pointer },
  ...more,
});

export const BUILDS: Row[] = [
  ...[
    "-x",
    "a..b",
    "a@{b",
    "x.lock",
    "x.lock/y",
    "a b",
    "a\nb",
    "a\u007fb",
    "a~b",
    "a^b",
    "a:b",
    "a?b",
    "a*b",
    "a[b",
    "a\\b",
  ]
    .concat([
      "/a",
      "a/",
      "a//b",
      ".a",
      "a.",
      "@",
      "HEAD",
      "refs/notes/a",
      "",
      "x".repeat(LIMITS.branchCharacters + 1),
      "\ud800",
    ])
    .map((branch) => build(`the branch ${JSON.stringify(branch).slice(0, 40)}`, () => ({ branch }), "/branch")),
  ...["3f2a9c6", "HEAD", "g".repeat(40), "a".repeat(39), "b".repeat(41), "a".repeat(63), `${"a".repeat(40)}\n`].map(
    (sha) =>
      build(
        `the commit ${JSON.stringify(sha).slice(0, 20)} of ${sha.length} characters`,
        () => ({ commitSha: sha }),
        "/commitSha",
      ),
  ),
  ...[
    "BASH_ENV",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "GIT_SSH_COMMAND",
    "PATH",
    "DYLD_INSERT_LIBRARIES",
    "path",
    "Ld_Audit",
  ].map((key) => build(`its own ${key}`, () => ({ envVariables: { [key]: CANARY } }), `/envVariables/${key}`)),
  ...["A=B", "1A", "A B", "A\n", "", "MILLRACE_X"].map((key) =>
    build(`the override ${JSON.stringify(key)}`, () => ({ envVariables: { [key]: CANARY } }), "/envVariables"),
  ),
  build("NUL in an override", () => ({ envVariables: { A: `${CANARY}\0` } }), "/envVariables"),
  build("half a surrogate pair in an override", () => ({ envVariables: { A: `${CANARY}\ud83d` } }), "/envVariables"),
  build("an object as override", () => ({ envVariables: { A: { B: CANARY } } }), "/envVariables"),
  build(
    "overrides that are too large",
    () => ({ envVariables: { A: CANARY.repeat(LIMITS.envVariablesBytes / 8) } }),
    "",
    {
      status: 413,
      kind: "too-large",
    },
  ),
  build("a status from the caller", () => ({ status: "succeeded" }), ""),
  build("an attempt from the caller", () => ({ attempt: 1 }), ""),
  build("an id from the caller", () => ({ id: UUID }), ""),
  build("another organization", () => ({ orgId: foreign.orgId }), ""),
  build("another organization's repository", () => ({ pipelineId: null, repoId: foreign.repository.id }), "/repoId"),
  build("another organization's pipeline", () => ({ pipelineId: foreign.pipeline.id }), "/pipelineId"),
  build("another repository than the pipeline's", () => ({ repoId: foreign.repository.id }), "/repoId"),
  build("neither repository nor pipeline", () => ({ pipelineId: null }), "/repoId"),
  build("a priority over 100", () => ({ priority: 101 }), "/priority"),
  build("an Idempotency-Key with a space", () => ({}), "Idempotency-Key", {
    headers: () => ({ "Idempotency-Key": `${CANARY} x` }),
  }),
  build("an Idempotency-Key of 201 characters", () => ({}), "Idempotency-Key", {
    headers: () => ({ "Idempotency-Key": "x".repeat(201) }),
  }),
  {
    ...{ is: "a build of another organization's repository", path: () => `/repository/${foreign.repository.id}/build` },
    ...{ body: { branch: "main" }, status: 404, kind: "not-found" },
  },
];
