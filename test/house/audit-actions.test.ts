import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AUDIT_ACTIONS, EARLIER_ACTIONS } from "../../src/protocol/audit.ts";

const read = (pattern: string): string =>
  globSync(pattern)
    .filter((file) => file !== "src/protocol/audit.ts")
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");

const isAction = (name: string): boolean => AUDIT_ACTIONS.some((action) => action === name);

describe("the actions of the audit", () => {
  it("are each written by the source", () => {
    const source = read("src/{queue,services}/**/*.ts");
    expect(AUDIT_ACTIONS.filter((action) => !source.includes(`"${action}"`))).toEqual([...EARLIER_ACTIONS]);
  });

  it("include every action that the documents and the API's description name", () => {
    const nouns = new Set(AUDIT_ACTIONS.map((action) => action.split(".")[0]));
    const named = [
      ...[...read("{README.md,docs/*.md}").matchAll(/`([a-z]+\.[a-z]+)`|audit\?action=([a-z.]+)/g)],
      ...[...read("src/api/description/words/*.ts").matchAll(/\bas ([a-z]+\.[a-z]+)\b/g)],
    ].map((match) => match[1] ?? match[2] ?? "");
    const ofTheAudit = named.filter((name) => nouns.has(name.split(".")[0]) && !CONTEXT.has(name) && !FILE.test(name));
    expect(ofTheAudit).toContain("variable.update");
    expect(ofTheAudit.filter((name) => !isAction(name))).toEqual([]);
  });
});

/** Properties of a pipeline file's contexts. They look like audit actions. */
const CONTEXT = new Set([
  "build.attempt",
  "build.base",
  "build.branch",
  "build.event",
  "build.commit",
  "build.trigger",
  "build.trusted",
  "agent.platform",
]);
/** File names. They look like audit actions, too. */
const FILE = /\.(ts|mjs|log)$/;
