import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { changesSince } from "../../../src/agent/checkout/changed-files.ts";
import type { Remote } from "../../../src/agent/checkout/remote.ts";
import { ProcessTree } from "../../../src/agent/process/process-tree.ts";
import { addHistory } from "../../support/local/git-history.ts";
import { startGitServer } from "../../support/local/git-server.ts";
import { BUILD } from "../support/checkout.ts";
import { testFolder } from "../support/folder.ts";
import { type TestRepository, testRepository } from "../support/repository.ts";

const remoteOf = (cloneUrl: string): Remote => {
  const folder = testFolder();
  const gitContext = { folder, protocols: ["file", "http"], tree: new ProcessTree(BUILD) };
  return {
    ...{ gitContext, cloneUrl, tempFolder: folder },
    credential: { kind: "token", username: "miller", value: "pw" },
  };
};

const UNKNOWN = "0123456789012345678901234567890123456789";

/** Creates a branch with two commits, and a main that has moved on since. */
const withBranch = (hash = "sha1") => {
  const repository = testRepository({ "src/a.ts": "1", "docs/old name.md": "2", "gone.txt": "3" }, hash);
  const fork = repository.git("rev-parse", "HEAD");
  repository.git("checkout", "--quiet", "-b", "feature");
  repository.commit({ "src/a.ts": "changed", 'docs/"quoted" ä.md': "new" });
  repository.git("mv", "docs/old name.md", "docs/new name.md");
  repository.git("rm", "--quiet", "gone.txt");
  const head = repository.commit({});
  repository.git("checkout", "--quiet", "main");
  repository.commit({ "main-only.txt": "4" });
  return { repository, fork, head };
};

const CHANGED = ['docs/"quoted" ä.md', "docs/new name.md", "docs/old name.md", "gone.txt", "src/a.ts"];

const served = async ({ folder }: TestRepository, isOld: boolean): Promise<string> => {
  const server = await startGitServer(dirname(dirname(folder)), "miller", "pw", isOld);
  onTestFinished(() => server.close());
  return `${server.url}/${basename(dirname(folder))}/mill.git`;
};

describe("a commit's changes", () => {
  it.each(["sha1", "sha256"])("match git diff --merge-base in a %s repository", async (hash) => {
    const { repository, fork, head } = withBranch(hash);
    const remote = remoteOf(repository.cloneUrl);
    expect(await changesSince(remote, "refs/heads/main", head)).toEqual({ base: fork, files: CHANGED });
    const names = repository.git("diff", "--name-only", "--no-renames", "-z", "--merge-base", "main", head);
    expect(names.split("\0").filter((name) => name !== "")).toEqual(CHANGED);
    expect(readdirSync(remote.tempFolder)).toEqual([]);
  });

  it("are found on a host that serves commits by hash", async () => {
    const { repository, fork, head } = withBranch();
    const cloneUrl = await served(repository, false);
    expect(await changesSince(remoteOf(cloneUrl), fork, head)).toEqual({ base: fork, files: CHANGED });
  });

  it("are unknown if the host does not serve one of the commits", async () => {
    const { repository, fork, head } = withBranch();
    const old = await served(repository, true);
    expect(await changesSince(remoteOf(old), "refs/heads/main", fork)).toBeNull();
    expect(await changesSince(remoteOf(repository.cloneUrl), UNKNOWN, head)).toBeNull();
    expect(await changesSince(remoteOf(repository.cloneUrl), "refs/heads/nothing", head)).toBeNull();
  });

  it("are empty for the same commit, and unknown without a common history", async () => {
    const { repository, head } = withBranch();
    const remote = remoteOf(repository.cloneUrl);
    expect(await changesSince(remote, head, head)).toEqual({ base: head, files: [] });
    repository.git("checkout", "--quiet", "--orphan", "other");
    repository.commit({ "b.txt": "x" });
    expect(await changesSince(remote, "refs/heads/other", head)).toBeNull();
  });

  it("are found however far back the histories meet", async () => {
    const repository = testRepository({ "a.txt": "0" });
    const fork = repository.git("rev-parse", "HEAD");
    repository.git("checkout", "--quiet", "-b", "feature");
    const head = repository.commit({ "b.txt": "x" });
    repository.git("checkout", "--quiet", "main");
    addHistory(repository.folder, 130);
    const changes = await changesSince(remoteOf(repository.cloneUrl), "refs/heads/main", head);
    expect(changes).toEqual({ base: fork, files: ["b.txt"] });
  });
});
