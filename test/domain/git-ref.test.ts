import { spawnSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { branchProblem, refsNamed } from "../../src/domain/git-ref.ts";

describe("branchProblem", () => {
  it.each([
    ...["main", "feature/x", "a.b", "x@y", "é/ü", "x$(touch${IFS}marker)", "'", '"', "`id`", "a;b", "!", "a@", "#1"],
    ...[
      "refs/tags/v1.0.0",
      "refs/pull/12/head",
      "refs/merge-requests/7/head",
      "heads/x",
      "v1",
      "HEAD/x",
      "headless",
      "a-",
      "lock",
      "x.lock.y",
    ],
  ])("accepts %s", (name) => {
    expect(branchProblem(name)).toBeNull();
  });

  it.each([
    ["", "must not be empty"],
    ["-x", "must not begin with -"],
    ["--upload-pack=x", "must not begin with -"],
    ["a..b", "must not have .. or @{"],
    ["x@{1}", "must not have .. or @{"],
    ["x.lock", "must not have a part that ends with .lock"],
    ["x.lock/y", "must not have a part that ends with .lock"],
    [".x", "must not have a part that begins with a dot"],
    ["x/.y", "must not have a part that begins with a dot"],
    ["x.", "must not end with a dot"],
    ["/x", "must not begin or end with / or have //"],
    ["x//y", "must not begin or end with / or have //"],
    ["@", "must be a branch name"],
    ["HEAD", "must be a branch name"],
    ["refs/heads/x", "must be a branch name, refs/tags/..., refs/pull/... or refs/merge-requests/..."],
    ["refs/tags/", "must not begin or end with / or have //"],
    ["a\nb", "must not have spaces, control characters or any of ~ ^ : ? * [ \\"],
    ["a:b", "must not have spaces, control characters or any of ~ ^ : ? * [ \\"],
    ["\ud800", "must be valid Unicode"],
  ])("rejects %j: %s", (name, problem) => {
    expect(branchProblem(name)).toBe(problem);
  });

  const gitAccepts = (name: string): boolean =>
    spawnSync("git", [
      "check-ref-format",
      /^refs\/(tags|pull|merge-requests)\//.test(name) ? name : `refs/heads/${name}`,
    ]).status === 0 &&
    (name.startsWith("refs/") || spawnSync("git", ["check-ref-format", "--branch", name]).status === 0);

  it("agrees with git, except for @, which is another name of HEAD", () => {
    const piece = fc.constantFrom(
      ...["a", "b", "/", ".", "..", "-", "@", "{", "@{", ".lock", "~", "^", ":", "?", "*", "[", "]", "\\", " ", "\t"],
      ...[
        "\n",
        "\x7f",
        "é",
        "𝒳",
        "$",
        "(",
        ")",
        "`",
        "'",
        '"',
        "HEAD",
        "refs/tags/",
        "refs/pull/",
        "refs/merge-requests/",
        "=",
        "%",
        "\u200b",
      ],
    );
    const name = fc.array(piece, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
    let accepted = 0;
    fc.assert(
      fc.property(name, (text) => {
        const ours = branchProblem(text) === null;
        accepted += ours ? 1 : 0;
        expect([text, ours]).toEqual([text, text !== "@" && gitAccepts(text)]);
      }),
      { numRuns: 400 },
    );
    expect(accepted).toBeGreaterThan(0);
  });
});

it("a name matches a branch and a tag, and a full ref only itself", () => {
  expect(refsNamed("v2.3")).toEqual(["refs/heads/v2.3", "refs/tags/v2.3"]);
  expect(refsNamed("refs/tags/v2.3")).toEqual(["refs/tags/v2.3"]);
});
