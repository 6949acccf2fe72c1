import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cacheRefs } from "../../../src/domain/cache/scopes.ts";

const facts = fc.record({
  repoId: fc.constant("r"),
  pipelineId: fc.option(fc.constant("p"), { freq: 5 }),
  branch: fc.constantFrom("main", "next", "topic", "refs/pull/7/head", "refs/tags/v1"),
  event: fc.constantFrom("api", "push", "tag", "pull", "merge-group", "schedule"),
  base: fc.option(fc.constantFrom("main", "next", "")),
  trust: fc.constant("trusted" as const),
});

describe("the scopes of a build", () => {
  it("are those that it may trust, and it saves to its own only", () => {
    fc.assert(
      fc.property(facts, fc.constantFrom("main", "trunk"), (build, defaultBranch) => {
        const { reads, writes } = cacheRefs(build, defaultBranch);
        const trusted = [build.branch, build.base || build.branch, defaultBranch];
        for (const ref of reads)
          expect(trusted.map((name) => (name.startsWith("refs/") ? name : `refs/heads/${name}`))).toContain(ref);
        expect(new Set(reads).size).toBe(reads.length);
        const own = build.branch.startsWith("refs/") ? build.branch : `refs/heads/${build.branch}`;
        const mayWrite = build.pipelineId !== null && build.event !== "merge-group";
        expect(writes).toBe(mayWrite ? own : null);
        if (build.pipelineId === null) expect(reads).toEqual([]);
        else expect(reads[0]).toBe(own);
      }),
    );
  });

  it("are in the order in which a pull request trusts them", () => {
    const build = { repoId: "r", pipelineId: "p", branch: "refs/pull/7/head", event: "pull", base: "next" };
    expect(cacheRefs({ ...build, trust: "trusted" }, "main")).toEqual({
      reads: ["refs/pull/7/head", "refs/heads/next", "refs/heads/main"],
      writes: "refs/pull/7/head",
    });
  });
});
