import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Row } from "./row.ts";
import { CANARY, foreign, own } from "./stage.ts";

const pipeline = (is: string, change: () => object, pointer: string): Row => ({
  is: `a pipeline with ${is}`,
  path: "/pipeline",
  body: () => ({ repoId: own.repository.id, name: CANARY, ...change() }),
  ...{ status: 422, kind: "invalid", pointer },
});

export const PIPELINES: Row[] = [
  ...[
    "../x.yml",
    "a/../x.yml",
    "/etc/passwd",
    ".git/config",
    "a/.git/config",
    "-x",
    "a\\b",
    "a//b",
    "./x",
    "x\0",
    "\ud800",
    "",
  ].map((configPath) => pipeline(`the path ${JSON.stringify(configPath)}`, () => ({ configPath }), "/configPath")),
  pipeline("another organization's repository", () => ({ repoId: foreign.repository.id }), ""),
  pipeline("another organization's group", () => ({ groupIds: [foreign.groupId] }), ""),
  pipeline("the same group twice", () => ({ groupIds: [own.groupId, own.groupId] }), "/groupIds"),
  pipeline(
    "half a surrogate pair in its definition",
    () => ({ definition: "steps:\n  - run: '\ud83d'\n" }),
    "/definition",
  ),
  pipeline("101 groups", () => ({ groupIds: Array.from({ length: 101 }, () => crypto.randomUUID()) }), "/groupIds"),
  pipeline("too many labels", () => ({ requires: { labels: Array(LIMITS.labels + 1).fill("x") } }), "/requires/labels"),
  pipeline("a label with a space", () => ({ requires: { labels: [`${CANARY} x`] } }), "/requires/labels/0"),
  pipeline("an unknown platform", () => ({ requires: { platform: "amiga" } }), "/requires/platform"),
  pipeline("a misspelled requirement", () => ({ requires: { laebls: [] } }), "/requires"),
  pipeline("a timeout of 0 seconds", () => ({ timeoutSeconds: 0 }), "/timeoutSeconds"),
  pipeline("4 attempts", () => ({ maxAttempts: 4 }), "/maxAttempts"),
  pipeline("a definition that is not YAML", () => ({ definition: `steps: [${CANARY}` }), "/definition"),
  pipeline(
    "a definition that is too long",
    () => ({ definition: CANARY.repeat(LIMITS.definitionCharacters / 8) }),
    "/definition",
  ),
];
