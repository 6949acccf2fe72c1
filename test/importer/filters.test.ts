import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { wantsPull, wantsPush, wantsTag } from "../../src/githosts/core/wants.ts";
import { parseFile } from "../../src/pipeline/parse/parse.ts";
import { deliveredImporter, translate } from "./support/importer.ts";

/*
 * Compares the events that run a workflow on GitHub with the events that build its translation here. GitHub's rules are
 * from
 * https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#onpushbranchestagsbranches-ignoretags-ignore
 * and its cheat sheet of filter patterns.
 */

const importer = await deliveredImporter();

type Filter = Record<string, string[] | null>;

interface Event {
  kind: "push" | "tag" | "pull";
  /** The branch or tag, or a pull request's base branch. */
  name: string;
  files: string[];
}

/** `*` matches any characters except `/`; `**` matches any characters. The last matching pattern decides. */
const isMatch = (patterns: string[], name: string): boolean => {
  const toRegExp = (pattern: string) =>
    new RegExp(
      `^${pattern.replaceAll(/\[[^\]]+\]\+?|\*\*\/|\*\*|\*|[.+^${}()|[\]\\]/g, (sign) =>
        sign.length > 3
          ? sign
          : sign === "**/"
            ? "(?:.*/)?"
            : sign === "**"
              ? ".*"
              : sign === "*"
                ? "[^/]*"
                : `\\${sign}`,
      )}$`,
    );
  const last = patterns.findLast((one) => toRegExp(one.replace(/^!/, "")).test(name));
  return last !== undefined && !last.startsWith("!");
};

/** Applies the filter with or without `-ignore`; a workflow has only one. A filter without a value does not count. */
const passes = (filter: Filter, key: string, names: string[]): boolean => {
  const [included, ignored] = [filter[key], filter[`${key}-ignore`]];
  if (included) return names.some((name) => isMatch(included, name));
  return !ignored || names.some((name) => !isMatch(ignored, name));
};

const has = (filter: Filter, key: string): boolean => Boolean(filter[key] ?? filter[`${key}-ignore`]);

const runsThere = (on: { push?: Filter; pull_request?: Filter }, { kind, name, files }: Event): boolean => {
  const filter = kind === "pull" ? on.pull_request : on.push;
  if (!filter) return false;
  if (kind === "pull") return passes(filter, "branches", [name]) && passes(filter, "paths", files);
  const [own, other] = kind === "push" ? ["branches", "tags"] : ["tags", "branches"];
  // If only branches or only tags have a filter, GitHub ignores the other kind. Path filters do not apply to tags.
  if (!has(filter, own!) && has(filter, other!)) return false;
  return passes(filter, own!, [name]) && (kind === "tag" || passes(filter, "paths", files));
};

const buildsHere = async (on: object, { kind, name, files }: Event): Promise<boolean> => {
  const jobs = { a: { "runs-on": "ubuntu-latest", steps: [{ run: "make" }] } };
  const { text, kinds } = await translate(importer, stringify({ on, jobs }));
  expect(kinds).toEqual([]);
  const wanted = parseFile(text).value!.triggers.on;
  if (kind === "tag") return wantsTag(wanted, name).isWanted;
  if (kind === "push") return wantsPush(wanted, { branch: name, isDefault: name === "main", files }).isWanted;
  const pull = { base: name, isDraft: false, labels: [] } as never;
  const answer = wantsPull(wanted, pull, files);
  // Where the last push's files do not decide, the agent decides with the same patterns.
  const undecided = answer.isWanted ? answer.undecidedPaths : null;
  return answer.isWanted && (undecided === null || files.some((file) => isMatch(undecided, file)));
};

const names = ["main", "release/1.2", "feature/a/b", "v1.2"];
const refPattern = fc.constantFrom("main", "**", "*", "release/**", "feature/*", "v*", "**/b", "*.2", "v[0-9].[0-9]+");
const pathPattern = fc.constantFrom("**", "*", "src/**", "docs/**", "**.md", "**/*.md", "src/a.ts", "*.ts");
const including = (pattern: fc.Arbitrary<string>) =>
  fc
    .tuple(
      pattern,
      fc.array(
        fc.oneof(
          pattern,
          pattern.map((one) => `!${one}`),
        ),
        { maxLength: 2 },
      ),
    )
    .map(([first, rest]) => [first, ...rest]);

/** Generates no filter, a filter without a value, an including filter or an excluding one. */
const either = (key: string, pattern: fc.Arbitrary<string>): fc.Arbitrary<Filter> =>
  fc.oneof(
    fc.constant({}),
    fc.constant({ [key]: null }),
    including(pattern).map((list) => ({ [key]: list })),
    fc.array(pattern, { minLength: 1, maxLength: 2 }).map((list) => ({ [`${key}-ignore`]: list })),
  );
const merged = (...filters: fc.Arbitrary<Filter>[]) =>
  fc.tuple(...filters).map((all) => Object.assign({}, ...all) as Filter);

const push = merged(either("branches", refPattern), either("tags", refPattern), either("paths", pathPattern));
const pull = merged(either("branches", refPattern), either("paths", pathPattern));
const event = fc.record<Event>({
  kind: fc.constantFrom("push", "tag", "pull"),
  name: fc.constantFrom(...names),
  files: fc.subarray(["src/a.ts", "docs/a.md", "README.md", "src/deep/x.md"], { minLength: 1 }),
});

describe("filters of events", () => {
  it("start the same builds in any combination", async () => {
    const on = fc.record({ push, pull_request: pull }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(on, event, async (filters, one) => {
        fc.pre(Object.keys(filters).length > 0);
        expect(await buildsHere(filters, one)).toBe(runsThere(filters, one));
      }),
      { numRuns: 300 },
    );
  });

  it("detects a difference", () => {
    const tagsOnly = { push: { tags: ["v*"] } };
    const branch: Event = { kind: "push", name: "main", files: ["src/a.ts"] };
    expect([runsThere(tagsOnly, branch), runsThere({ push: {} }, branch)]).toEqual([false, true]);
  });
});
