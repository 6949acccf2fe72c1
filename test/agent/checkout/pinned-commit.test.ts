import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkOut, fetchSource } from "../../../src/agent/checkout/checkout.ts";
import { git } from "../../../src/agent/checkout/git.ts";
import { addHistory } from "../../support/local/git-history.ts";
import { failureOf, makeCheckoutContext, PLAIN, sourceOf } from "../support/checkout.ts";
import { commitDated, testRepository } from "../support/repository.ts";
import { WAYS } from "../support/ways.ts";

/** Creates 130 commits on main, and one on another branch. */
const withHistory = () => {
  const repository = testRepository({ "a.txt": "0" });
  const first = repository.git("rev-parse", "HEAD");
  addHistory(repository.folder, 130);
  const near = repository.git("rev-parse", "HEAD~5");
  repository.git("checkout", "--quiet", "-b", "fork", "HEAD~3");
  const foreign = repository.commit({ "evil.txt": "x" });
  return { repository, first, near, foreign };
};

const UNKNOWN = "0123456789012345678901234567890123456789";

const pinned = (cloneUrl: string, commitSha: string, branch = "main") =>
  sourceOf(cloneUrl, {
    commitSha,
    branch,
    configPath: "a.txt",
    repository: {
      fullName: "acme/mill",
      cloneUrl,
      credential: { kind: "token", username: "miller", value: "pw" },
    },
  });

describe("a pinned commit", () => {
  it.each(Object.entries(WAYS))(
    "by %s is built however old it is, and rejected if it is only on another branch",
    async (_, way) => {
      const { repository, first, near, foreign } = withHistory();
      const cloneUrl = await way(repository);
      for (const commitSha of [first, near]) {
        const at = await makeCheckoutContext();
        const source = pinned(cloneUrl, commitSha);
        const fetched = await fetchSource(source, at);
        expect(fetched).toMatchObject({ commitSha, file: { text: commitSha === first ? "0" : "125" } });
        await checkOut(source, fetched, at, PLAIN);
        expect(readFileSync(join(at.workspace, "a.txt"), "utf8")).toBe(commitSha === first ? "0" : "125");
        expect(readdirSync(at.tempFolder)).toEqual(["workspace"]);
      }
      for (const commitSha of [foreign, UNKNOWN]) {
        const failure = await failureOf(fetchSource(pinned(cloneUrl, commitSha), await makeCheckoutContext()));
        expect(failure.reason).toBe("commit-not-on-branch");
        expect(failure.message).toContain(commitSha);
      }
    },
  );

  it("is fetched without history, or with the history that the file requests", async () => {
    const { repository, near } = withHistory();
    for (const [depth, commits] of [
      [1, "1"],
      [4, "4"],
      [0, "126"],
    ] as const) {
      const at = await makeCheckoutContext();
      const source = pinned(repository.cloneUrl, near);
      const fetched = await fetchSource(source, at);
      await checkOut(source, fetched, at, { ...PLAIN, depth });
      const counted = await git(fetched.gitContext, ["rev-list", "--count", "HEAD"]);
      expect(counted.stdout.toString().trim()).toBe(commits);
      expect(readFileSync(join(at.workspace, ".git/config"), "utf8")).not.toMatch(/promisor|partial/i);
    }
  });

  it("could come from a fork without the branch check: hosts serve every commit by its hash", async () => {
    const { repository, foreign } = withHistory();
    const at = await makeCheckoutContext();
    const place = { folder: at.workspace, protocols: ["file"], tree: at.tree };
    expect((await git(place, ["fetch", "--depth=1", repository.cloneUrl, foreign])).code).toBe(0);
    const fetched = await fetchSource(pinned(repository.cloneUrl, foreign, "fork"), await makeCheckoutContext());
    expect(fetched.commitSha).toBe(foreign);
  });

  it("is found despite wrong clocks, and across a merge", async () => {
    const repository = testRepository({ "a.txt": "0" });
    const dated = (date: string, work: () => string): string => {
      process.env.GIT_COMMITTER_DATE = date;
      try {
        return work();
      } finally {
        delete process.env.GIT_COMMITTER_DATE;
      }
    };
    const future = dated("2040-01-01T00:00:00Z", () => repository.commit({ "a.txt": "future" }));
    repository.git("checkout", "--quiet", "-b", "side");
    const side = dated("1990-01-01T00:00:00Z", () => repository.commit({ "b.txt": "side" }));
    repository.git("checkout", "--quiet", "main");
    repository.commit({ "a.txt": "main" });
    repository.git("merge", "--quiet", "--no-edit", "side");
    for (const commitSha of [future, side]) {
      const fetched = await fetchSource(pinned(repository.cloneUrl, commitSha), await makeCheckoutContext());
      expect(fetched.commitSha).toBe(commitSha);
    }
  });

  it.each(["99999999999999", "-5", ""])("is found although its date is %j", async (date) => {
    const repository = testRepository({ "a.txt": "0" });
    const commitSha = commitDated(repository, `${date} +0000`);
    repository.commit({ "a.txt": "1" });
    const fetched = await fetchSource(pinned(repository.cloneUrl, commitSha), await makeCheckoutContext());
    expect(fetched).toMatchObject({ commitSha, file: { text: "0" } });
  });

  it("is built if a tag object names it", async () => {
    const repository = testRepository({ "a.txt": "0" });
    const commit = repository.git("rev-parse", "HEAD");
    repository.git("tag", "--annotate", "--message", "first", "v1");
    repository.commit({ "a.txt": "1" });
    const tag = repository.git("rev-parse", "v1");
    expect(tag).not.toBe(commit);
    for (const branch of ["refs/tags/v1", "main"]) {
      const fetched = await fetchSource(pinned(repository.cloneUrl, tag, branch), await makeCheckoutContext());
      expect(fetched).toMatchObject({ commitSha: commit, file: { text: "0" } });
    }
  });
});
